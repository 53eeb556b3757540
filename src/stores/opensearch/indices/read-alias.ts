import { type AliasesByIndex, existingIndices, readAliases } from '../client/aliases.ts'
import { type IndexNames, indexVersion } from './index-names.ts'
import type { PresenceOptions } from './index-presence.ts'

/**
 * Why the read alias is on an index without the orders, and what to do: it was moved by hand, or
 * the lease is outdated. `null` when its index is a target, or was one of the last fence, which
 * gives the live index and every target a write alias of one epoch. A restored index may have the
 * alias of an earlier epoch. A fence corrects an alias on several indices.
 * @throws Unavailable
 */
export async function findMisplacement(
  { client, names, deadlineMs }: PresenceOptions,
  [live = '', ...others]: readonly string[],
  targets: readonly string[],
): Promise<string | null> {
  const [first = ''] = targets
  if (live === '' || others.length > 0 || targets.includes(live)) return null
  const written = await readAliases(client, deadlineMs, names.writeAliases)
  const ofLive = written[live]?.aliases ?? {}
  const sameEpoch = (alias: string) => alias.replace(/\d+$/, `${indexVersion(live)}`)
  const ofFirst = Object.keys(written[first]?.aliases ?? {})
  if (ofFirst.some((alias) => sameEpoch(alias) in ofLive)) return null
  const [existing] = await existingIndices(client, deadlineMs, [first])
  // The lease is older than the end of a reindex, or the live index is lost.
  const restoration = `${first}, which it wrote, is missing. Restore ${first} from a snapshot and move the alias to it with POST _aliases`
  // A writer without a lease starts at the live index only if it is a version.
  const deletion = names.isVersion(live)
    ? `. Or, if ${live} has all orders, delete the lease with DELETE ${names.writer}/_doc/orders`
    : ''
  const remedy = existing ? `move it to ${first} with POST _aliases` : `${restoration}${deletion}`
  return `the alias ${names.orders} is on ${live}, which the last writer did not write: ${remedy}`
}

/** Lists through an alias on several indices have orders twice, and reads by id fail. */
export function findSeveralIndices({ orders }: IndexNames, live: readonly string[]): string | null {
  if (live.length <= 1) return null
  return `the alias ${orders} is on several indices: ${live.join(', ')}. Remove it from all but one with POST _aliases`
}

/** Reads by id ignore a filter of the read alias, so only lists and scans lack what it hides. */
export function findFilter({ orders }: IndexNames, indices: AliasesByIndex): string | null {
  const index = Object.keys(indices).find(
    (name) => 'filter' in Object(indices[name]?.aliases[orders]),
  )
  if (index === undefined) return null
  return `the alias ${orders} has a filter, which hides orders of ${index} from lists: add it without one with POST _aliases`
}
