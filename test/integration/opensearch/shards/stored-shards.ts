import { vi } from 'vitest'
import { opensearch } from '../../../support/stores/backend.ts'
import type { EachTestServices } from '../../../support/stores/use-services.ts'

type Stored = Pick<EachTestServices, 'prefix'>

/** The number of primary shards of each index, by its name without the prefix. */
export async function shardCounts({ prefix }: Stored): Promise<Record<string, number>> {
  const found = await opensearch<
    Record<string, { settings: { index: { number_of_shards: string } } }>
  >('GET', `${prefix}*/_settings/index.number_of_shards`)
  return Object.fromEntries(
    Object.entries(found).map(([name, { settings }]) => [
      name.slice(prefix.length),
      Number(settings.index.number_of_shards),
    ]),
  )
}

/** The shard to which OpenSearch routes an account. */
export async function shardOf(
  { prefix }: Stored,
  index: string,
  accountId: string,
): Promise<number> {
  const { shards } = await opensearch<{ shards: { shard: number }[][] }>(
    'GET',
    `${prefix}${index}/_search_shards?routing=${accountId}`,
  )
  return shards[0]?.[0]?.shard ?? -1
}

/**
 * Runs a check while no node has a copy of the shard. OpenSearch starts the primary again from disk
 * a moment later, whatever the settings, so a check that came too late is repeated.
 */
export async function withoutCopies(
  { prefix }: Stored,
  { index, shard }: { index: string; shard: number },
  check: () => Promise<void>,
): Promise<void> {
  const repeatedly = async () => {
    await removeCopies(`${prefix}${index}`, shard)
    await check()
  }
  await vi.waitFor(repeatedly, { timeout: 60_000 })
}

async function removeCopies(name: string, shard: number): Promise<void> {
  await opensearch('PUT', `${name}/_settings`, { 'index.routing.allocation.enable': 'all' })
  // A copy that has not started is in no list, and would take over from the primary.
  await opensearch('GET', `_cluster/health/${name}?wait_for_status=green&timeout=60s`)
  const { shards } = await opensearch<{
    shards: { shard: number; node: string; primary: boolean }[][]
  }>('GET', `${name}/_search_shards`)
  const copies = shards.flat().filter((copy) => copy.shard === shard)
  const replicasFirst = copies.toSorted((one, other) => Number(one.primary) - Number(other.primary))
  await opensearch('PUT', `${name}/_settings`, { 'index.routing.allocation.enable': 'none' })
  await opensearch('POST', '_cluster/reroute', {
    commands: replicasFirst.map(({ node }) => ({
      cancel: { index: name, shard, node, allow_primary: true },
    })),
  })
}

export interface StoredOnShard {
  /** Absent for documents of different indices that are compared as a whole. */
  shard: number
  source: object
}

interface ExplainedHit {
  _id: string
  _shard: string
  _source: object
}

/** The searchable documents and tombstones of an index by id, with the shard of each. */
export async function storedDocuments(
  { prefix }: Stored,
  index: string,
): Promise<Map<string, StoredOnShard>> {
  const { hits } = await opensearch<{ hits: { hits: ExplainedHit[] } }>(
    'POST',
    `${prefix}${index}/_search`,
    { size: 10_000, explain: true },
  )
  return new Map(
    hits.hits
      .map(({ _id, _shard, _source }) => {
        const shard = Number(/\]\[(\d+)\]$/.exec(_shard)?.[1])
        return [_id, { shard, source: _source }] as const
      })
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  )
}
