import { setTimeout as pause } from 'node:timers/promises'
import type {
  IndexOverview,
  IndexPart,
  WriterOverview,
  WriteTimestampState,
} from '../../../indexing/consistency-check/index-inspection.ts'
import { monotonicClock } from '../../../lib/clock.ts'
import { filterGenerations } from '../../../orders/filters/filter-generations.ts'
import { paramsOfGeneration } from '../../../orders/filters/filters.ts'
import { read } from '../client/client.ts'
import { NO_TOMBSTONES } from '../client/documents/tombstone.ts'
import { countDocuments, readShardCount, refreshIndices } from '../client/shards.ts'
import { concreteIndex } from '../indices/index-names.ts'
import { type LeaseRecord, leaseDocument, maxIssuedTimestamp } from '../lease-document.ts'
import { isSameState } from '../lease-observation.ts'
import { createStoreClock } from '../write/lease/store-clock.ts'
import { readVisibleStats } from '../write/lease/write-timestamps.ts'
import type { OpenSearchInspectionOptions } from './inspection-options.ts'
import { readWriteTargetState } from './write-target-state.ts'

type Options = OpenSearchInspectionOptions

const PROBE_INTERVAL_MS = 100

/** The state of the index. `maxProbeMs` limits the observation of the writer's lease. */
export async function readOverview(options: Options, maxProbeMs: number): Promise<IndexOverview> {
  // First and alone, so that a missing index is reported by one error.
  const visible = await readVisibleStats(options.client, options.names, options.deadlineMs)
  const [orders, indices, { writer, targets }, targetState, writeTimestamps] = await Promise.all([
    countVersionRecords(options),
    readIndices(options),
    probeWriter(options, maxProbeMs),
    readWriteTargetState(options),
    readWriteTimestamps(options, options.deadlineMs),
  ])
  const liveAliases = indices.filter(({ read }) => read).flatMap(({ aliases }) => aliases)
  return {
    ...visible,
    orders,
    indices: indices.map(({ aliases: _, ...part }) => {
      return { ...part, fed: targets.includes(part.name) }
    }),
    missingFilters: filterGenerations
      .filter((generation) => !liveAliases.includes(options.names.filterAlias(generation)))
      .flatMap(paramsOfGeneration),
    ...targetState,
    writer,
    writeTimestamps,
  }
}

/**
 * The latest write timestamp by the lease, and the cluster's clock. `deadlineMs` applies to each.
 */
export async function readWriteTimestamps(
  { client, names }: Pick<Options, 'client' | 'names'>,
  deadlineMs: number,
): Promise<WriteTimestampState> {
  const [lease, clockMs] = await Promise.all([
    leaseDocument(client, names, deadlineMs).read(),
    createStoreClock(client, deadlineMs).read(),
  ])
  return { lastWriteTimestamp: lease && maxIssuedTimestamp(lease.record), clockMs }
}

async function countVersionRecords({ client, names, deadlineMs }: Options): Promise<number> {
  const index = names.versionRecords
  // Version records refresh rarely, and only a refresh makes them countable.
  await refreshIndices(client, deadlineMs, [index])
  return countDocuments(client, deadlineMs, index, { query: { match_all: {} } })
}

type StoredPart = Omit<IndexPart, 'fed'> & { aliases: readonly string[] }

async function readIndices(options: Options): Promise<StoredPart[]> {
  const { client, names, deadlineMs } = options
  const index = concreteIndex(names.orders, '*')
  const [aliases, stats] = await Promise.all([
    read(deadlineMs, (call) => client.indices.getAlias({ index }, call)),
    read(deadlineMs, (call) =>
      client.indices.stats({ index, metric: ['store'], level: 'shards' }, call),
    ),
  ])
  const versions = Object.entries(aliases).filter(([name]) => names.isVersion(name))
  return Promise.all(
    versions.map(async ([name, { aliases }]) => ({
      name,
      read: names.orders in aliases,
      aliases: Object.keys(aliases),
      ...(await readShards(options, name, stats.indices?.[name] ?? {})),
    })),
  )
}

/** The documents and sizes of an index, by shard and together. */
async function readShards(
  { client, deadlineMs }: Options,
  index: string,
  stats: ShardStats,
): Promise<Pick<IndexPart, 'documents' | 'bytes' | 'shards'>> {
  const count = await readShardCount(client, deadlineMs, index)
  const shards = await Promise.all(
    Array.from({ length: count }, async (_, shard) => ({
      shard,
      documents: await countDocuments(client, deadlineMs, index, { query: NO_TOMBSTONES, shard }),
      bytes: primaryBytes(stats, shard),
    })),
  )
  return {
    documents: shards.reduce((sum, { documents }) => sum + documents, 0),
    bytes: stats.total?.store?.size_in_bytes ?? null,
    shards,
  }
}

/** The part of the index statistics that this module reads. */
interface ShardStats {
  total?: { store?: { size_in_bytes?: number } }
  shards?: Record<string, unknown>
}

interface CopyStats {
  routing?: { primary?: boolean }
  store?: { size_in_bytes?: number }
}

function primaryBytes({ shards }: ShardStats, shard: number): number | null {
  const copies = (shards?.[`${shard}`] ?? []) as CopyStats[]
  return copies.find(({ routing }) => routing?.primary)?.store?.size_in_bytes ?? null
}

/** Observes the lease document for a renewal, because clocks of two machines cannot be compared. */
async function probeWriter(
  { client, names, deadlineMs }: Options,
  maxProbeMs: number,
): Promise<{ writer: WriterOverview | null; targets: readonly string[] }> {
  const document = leaseDocument(client, names, deadlineMs)
  const first = await document.read()
  if (first === null) return { writer: null, targets: [] }
  const startedAt = monotonicClock()
  for (let latest = first; ; ) {
    const { record } = latest
    const probedMs = monotonicClock() - startedAt
    const alive = isAlive(record, !isSameState(latest, first), probedMs)
    if (alive !== null || probedMs >= maxProbeMs) {
      return { writer: writerOverview(record, alive), targets: record.targets }
    }
    await pause(PROBE_INTERVAL_MS)
    latest = (await document.read()) ?? latest
  }
}

function isAlive(record: LeaseRecord, isRenewed: boolean, probedMs: number): boolean | null {
  if (record.released) return false
  if (isRenewed) return true
  return probedMs >= record.lease_ms ? false : null
}

function writerOverview(
  { holder, purpose, released, lease_ms }: LeaseRecord,
  alive: boolean | null,
): WriterOverview {
  return { holder, purpose, released, alive, leaseMs: lease_ms }
}
