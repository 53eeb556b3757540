import { Unavailable } from '../../../lib/unavailable.ts'
import { type OpenSearch, read } from '../client/client.ts'
import type { IndexNames } from '../index-names.ts'
import { TOMBSTONES } from '../tombstone.ts'

export interface FilterableAliasOptions {
  client: OpenSearch
  names: IndexNames
  /** For each call, the response body included. */
  deadlineMs: number
}

/** The indices that searches with any filter may read; none or one. */
export async function readFilterableIndices({
  client,
  names: { filterableOrders },
  deadlineMs,
}: FilterableAliasOptions): Promise<string[]> {
  // A pattern, because the alias may be missing.
  const request = { name: [`${filterableOrders}*`] }
  const found = await read(deadlineMs, (call) => client.indices.getAlias(request, call))
  return Object.keys(found).filter((index) => filterableOrders in (found[index]?.aliases ?? {}))
}

/** Every document of an earlier release lacks this field, and the keys of the other filters. */
const LACKS_FILTER_KEYS = {
  bool: { must_not: [TOMBSTONES, { exists: { field: 'paid_key' } }] },
}

/**
 * Whether every searchable document of an index has the keys of all filters.
 * @throws Unavailable
 */
export async function hasFilterKeys(
  { client, deadlineMs }: FilterableAliasOptions,
  index: string,
): Promise<boolean> {
  const request = { index, body: { query: LACKS_FILTER_KEYS } as object, terminate_after: 1 }
  const { count, _shards } = await read(deadlineMs, (call) => client.count(request, call))
  if (_shards?.failed === 0) return count === 0
  throw new Unavailable(`the documents of ${index} could not be counted on a shard copy`)
}
