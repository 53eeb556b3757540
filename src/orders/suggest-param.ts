import leven from 'leven'
import type { ListParamName } from './list-params.ts'

/** What other APIs call it, without separators; so far from ours that no distance would find it. */
const SYNONYMS: Partial<Record<ListParamName, readonly string[]>> = {
  limit: ['pagesize', 'perpage', 'size', 'count', 'take', 'first', 'maxresults'],
  cursor: ['page', 'nextcursor', 'startingafter', 'after', 'pagetoken', 'nextpagetoken', 'offset'],
  payment_method: ['method', 'paymenttype'],
  created_gte: [
    'created',
    'createdat',
    'createdafter',
    'createdsince',
    'createdfrom',
    'createdatfrom',
    'createdatmin',
  ],
  created_lt: ['createdbefore', 'createduntil', 'createdto', 'createdatto', 'createdatmax'],
  updated_gte: [
    'updated',
    'updatedat',
    'updatedafter',
    'updatedsince',
    'updatedfrom',
    'updatedatmin',
    'modifiedsince',
  ],
  updated_lt: ['updatedbefore', 'updateduntil', 'updatedto', 'updatedatmax', 'modifiedbefore'],
  sort: ['sortby', 'order', 'orderby', 'ordering'],
}
const paramBySynonym = new Map<string, string>(
  Object.entries(SYNONYMS).flatMap(([ours, names]) => names.map((name) => [name, ours])),
)

/**
 * The name among `known` that somebody who wrote `name` will have meant: it differs in a third of its letters
 * at most, where case and separators count for nothing, or is what other APIs call the same. `undefined` where
 * none is near. The work grows with the length of `name`: cut it before.
 */
export function suggestParam<Name extends string>(
  name: string,
  known: readonly Name[],
): Name | undefined {
  const normalized = normalize(name)
  const bySynonym = paramBySynonym.get(normalized)
  const matches = known
    .map((candidate) => ({ candidate, ...compare(normalized, normalize(candidate)) }))
    .filter(({ distance, threshold }) => distance <= threshold)
    .sort((one, other) => one.distance - other.distance || other.prefixLength - one.prefixLength)
  return known.find((candidate) => candidate === bySynonym) ?? matches[0]?.candidate
}

function compare(one: string, other: string) {
  const threshold = Math.round(Math.min(one.length, other.length) / 3)
  // From `maxDistance` on it tells no more than that.
  const distance = leven(one, other, { maxDistance: threshold + 1 })
  return { threshold, distance, prefixLength: commonPrefixLength(one, other) }
}

/** How long two names begin alike: `createdlte` is as far from `createdgte` as from `createdlt`. */
function commonPrefixLength(one: string, other: string): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length += 1
  return length
}

/** `createdGte`, `created-gte` and `created_gte[]` are one name. */
function normalize(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}
