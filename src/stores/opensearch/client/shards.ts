import { Unavailable } from '../../../lib/errors/unavailable.ts'
import { type OpenSearch, read } from './client.ts'
import { isCompleteOverShards } from './search/search-response.ts'

/** The number of primary shards of an index, by its name or alias. @throws Unavailable */
export async function readShardCount(
  client: OpenSearch,
  deadlineMs: number,
  index: string,
): Promise<number> {
  return readSetting(client, deadlineMs, index, 'number_of_shards')
}

/** When an index was created, epoch milliseconds of the cluster's clock. @throws Unavailable */
export async function readCreation(
  client: OpenSearch,
  deadlineMs: number,
  index: string,
): Promise<number> {
  return readSetting(client, deadlineMs, index, 'creation_date')
}

async function readSetting(
  client: OpenSearch,
  deadlineMs: number,
  index: string,
  setting: 'number_of_shards' | 'creation_date',
): Promise<number> {
  const request = { index, name: `index.${setting}` }
  const found = await read(deadlineMs, (call) => client.indices.getSettings(request, call))
  const [settings] = Object.values(found) as { settings?: IndexSettings }[]
  const value = Number(settings?.settings?.index?.[setting])
  if (Number.isSafeInteger(value) && value >= 1) return value
  throw new Unavailable(`OpenSearch returned no ${setting} of ${index}`)
}

interface IndexSettings {
  index?: Record<string, unknown>
}

/** The search preference for the primary of one shard; the first shard is 0. */
export function primaryOf(shard: number): string {
  return `_shards:${shard}|_primary`
}

export interface CountOptions {
  query: object
  /** Counts one shard only; all when absent. */
  shard?: number
  /** Each shard stops after this many documents. */
  terminate_after?: number
}

/**
 * The number of matching documents that the primaries have searchable.
 * @throws Unavailable when a shard did not count: OpenSearch then returns the sum of the others as
 *   a success
 */
export async function countDocuments(
  client: OpenSearch,
  deadlineMs: number,
  index: string,
  { query, shard, ...more }: CountOptions,
): Promise<number> {
  const preference = shard === undefined ? '_primary' : primaryOf(shard)
  const request = { index, body: { query } as object, preference, ...more }
  const { count, _shards } = await read(deadlineMs, (call) => client.count(request, call))
  if (isCompleteOverShards(_shards)) return count
  throw new Unavailable(`the documents of ${index} could not be counted on a shard`)
}

/**
 * Makes all earlier writes visible to searches, on every shard.
 * @throws Unavailable when a shard copy failed, or a shard has no primary
 */
export async function refreshIndices(
  client: OpenSearch,
  deadlineMs: number,
  indices: readonly string[],
): Promise<void> {
  const index = [...indices]
  const { _shards } = await read(deadlineMs, (call) => client.indices.refresh({ index }, call))
  const { total, successful, failed } = _shards ?? {}
  if (failed === 0 && successful === total) return
  // A replica without a node is missing from `successful`, and so is a shard without a primary.
  if (failed === 0 && (await haveAllPrimaries(client, deadlineMs, index))) return
  throw new Unavailable(
    `the refresh of ${index.join(', ')} failed on a shard copy: written documents may not be searchable`,
  )
}

async function haveAllPrimaries(
  client: OpenSearch,
  deadlineMs: number,
  index: string[],
): Promise<boolean> {
  const { status } = await read(deadlineMs, (call) => client.cluster.health({ index }, call))
  return status !== 'red'
}
