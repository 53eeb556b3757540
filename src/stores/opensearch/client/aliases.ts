import { type OpenSearch, read } from './client.ts'
import { isRejectedWith, NOT_FOUND } from './errors.ts'

// Every request names the indices too, by the alias. Without them it concerns every index of the
// cluster, which a role limited to the indices of this service does not permit.

/** The aliases of each index; only the named ones where the request names aliases. */
export type AliasesByIndex = Record<string, { aliases: Record<string, unknown> }>

/**
 * The indices that have one of these aliases, which may be patterns; none when all are missing.
 * @throws Unavailable, or RequestRejectedError
 */
export function readAliases(
  client: OpenSearch,
  deadlineMs: number,
  aliases: readonly string[],
): Promise<AliasesByIndex> {
  const request = { index: [...aliases], name: [...aliases], ignore_unavailable: true }
  return read(deadlineMs, (call) => client.indices.getAlias(request, call)).catch(noneIfMissing)
}

/** Whether an index has the alias. @throws Unavailable, or RequestRejectedError */
export async function hasAlias(
  client: OpenSearch,
  deadlineMs: number,
  alias: string,
): Promise<boolean> {
  // No HEAD request, whose response cannot name a missing permission.
  return Object.keys(await readAliases(client, deadlineMs, [alias])).length > 0
}

/**
 * Which of these aliases exist, in one state of the cluster. A request that names several aliases
 * fails when one is missing.
 * @throws Unavailable, or RequestRejectedError
 */
export async function existingAliases(
  client: OpenSearch,
  deadlineMs: number,
  aliases: readonly string[],
): Promise<Set<string>> {
  const found = await readIndices(client, deadlineMs, aliases)
  const existing = Object.values(found).flatMap(({ aliases }) => Object.keys(aliases))
  return new Set(aliases.filter((alias) => existing.includes(alias)))
}

/** Which of these indices exist. @throws Unavailable, or RequestRejectedError */
export async function existingIndices(
  client: OpenSearch,
  deadlineMs: number,
  indices: readonly string[],
): Promise<string[]> {
  return Object.keys(await readIndices(client, deadlineMs, indices))
}

/** The indices behind these names, with all their aliases. */
function readIndices(
  client: OpenSearch,
  deadlineMs: number,
  names: readonly string[],
): Promise<AliasesByIndex> {
  const request = { index: [...names], ignore_unavailable: true }
  return read(deadlineMs, (call) => client.indices.getAlias(request, call)).catch(noneIfMissing)
}

function noneIfMissing(error: unknown): AliasesByIndex {
  if (isRejectedWith(error, NOT_FOUND)) return {}
  throw error
}
