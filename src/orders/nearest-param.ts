import leven from 'leven'
import type { ListParamName } from './list-params.ts'

/** What other APIs call it, without separators; so far from ours that no distance would find it. */
const ELSEWHERE: Partial<Record<ListParamName, readonly string[]>> = {
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
const oursOf = new Map<string, string>(
  Object.entries(ELSEWHERE).flatMap(([ours, names]) => names.map((name) => [name, ours])),
)

/**
 * The name among `known` that somebody who wrote `name` will have meant: it differs in a third of its letters
 * at most, where case and separators count for nothing, or is what other APIs call the same. `undefined` where
 * none is near. The work grows with the length of `name`: cut it before.
 */
export function nearestParam<Name extends string>(
  name: string,
  known: readonly Name[],
): Name | undefined {
  const folded = fold(name)
  const ours = oursOf.get(folded)
  const near = known
    .map((candidate) => ({ candidate, ...compare(folded, fold(candidate)) }))
    .filter(({ distance, atMost }) => distance <= atMost)
    .sort((one, other) => one.distance - other.distance || other.alike - one.alike)
  return known.find((candidate) => candidate === ours) ?? near[0]?.candidate
}

function compare(one: string, other: string) {
  const atMost = Math.round(Math.min(one.length, other.length) / 3)
  // From `maxDistance` on it tells no more than that.
  const distance = leven(one, other, { maxDistance: atMost + 1 })
  return { atMost, distance, alike: alikeUntil(one, other) }
}

/** How long two names begin alike: `createdlte` is as far from `createdgte` as from `createdlt`. */
function alikeUntil(one: string, other: string): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length += 1
  return length
}

/** `createdGte`, `created-gte` and `created_gte[]` are one name. */
function fold(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}
