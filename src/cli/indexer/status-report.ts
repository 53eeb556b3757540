import {
  type IndexOverview,
  type ShardPart,
  type WriterOverview,
  writeTimestampsAheadMs,
} from '../../indexing/consistency-check/index-inspection.ts'
import type { StreamBacklog } from '../../indexing/consistency-check/stream-inspection.ts'
import { MAX_CLOCK_SKEW_MS } from '../../indexing/writer/clock-skew.ts'
import { formatInstantOrNull } from '../../lib/instant.ts'
import { alignRows } from '../output.ts'

/** The JSON output of `index status`. */
export type IndexStatus = ReturnType<typeof indexStatus>

const seconds = (ms: number) => Math.max(0, Math.round(ms) / 1000)

/**
 * The JSON of `index status`. Lag and age in seconds, never negative; `lag_seconds` is `null` when
 * the newest write timestamp is unknown or too far ahead of the clock.
 */
export function indexStatus(overview: IndexOverview, backlog: StreamBacklog | null) {
  const { documents, orders, newestWrittenKey, indices, missingFilters, writer } = overview
  const { missingTargets, pendingTargets } = overview
  const { lastWriteTimestamp, clockMs } = overview.writeTimestamps
  const newest = newestWrittenKey ?? 0
  const aheadMs = writeTimestampsAheadMs({
    lastWriteTimestamp: Math.max(lastWriteTimestamp ?? 0, newest),
    clockMs,
  })
  // A write timestamp in the future does not show when the change was written.
  const isLagKnown = newestWrittenKey !== null && newest - clockMs <= MAX_CLOCK_SKEW_MS
  return {
    documents,
    orders_known: orders,
    indices: indices.map(({ name, read, fed, documents, bytes, shards }) => {
      return { name, read, fed, documents, bytes, shards: shards.map(shardStatus) }
    }),
    missing_filters: missingFilters,
    missing_targets: missingTargets.map(({ name, remedy }) => ({ name, next_step: remedy })),
    pending_targets: [...pendingTargets],
    writer: writer && writerStatus(writer),
    newest_visible_change: formatInstantOrNull(newestWrittenKey),
    lag_seconds: isLagKnown ? seconds(clockMs - newest) : null,
    stamps_ahead_seconds: seconds(aheadMs),
    stream: backlog && {
      backlog: backlog.backlog,
      oldest_unacknowledged_seconds:
        backlog.oldestAgeMs === null ? null : seconds(backlog.oldestAgeMs),
      refused: backlog.deadLetters,
    },
  }
}

/** The advised size of a shard is 10 to 50 GB. A larger one recovers and relocates slowly. */
export const MAX_ADVISED_SHARD_BYTES = 50_000_000_000

function shardStatus({ shard, documents, bytes }: ShardPart) {
  return { shard, documents, bytes, oversized: (bytes ?? 0) > MAX_ADVISED_SHARD_BYTES }
}

function writerStatus({ holder, purpose, released, alive, leaseMs }: WriterOverview) {
  return { holder, purpose, released, alive, lease_ms: leaseMs }
}

/** The status as text: one name and value per line. */
export function statusLines(status: IndexStatus): string[] {
  const { documents, orders_known, indices, writer, stream } = status
  const rows: [name: string, value: string][] = [
    ['documents', `${documents}`],
    ['orders known', `${orders_known}`],
    ...indices.flatMap(indexRows),
    ...targetRows(status),
    ...missingFilterRows(status),
    ['writer', writer === null ? 'none' : writerText(writer)],
    ['newest visible change', status.newest_visible_change ?? 'none'],
    ['lag', lagText(status)],
    ['timestamps ahead', aheadText(status)],
    ...(stream === null ? [['stream', 'none'] satisfies [string, string]] : streamRows(stream)),
  ]
  return alignRows(rows)
}

type IndexPartStatus = IndexStatus['indices'][number]

function indexRows(index: IndexPartStatus): [string, string][] {
  const { name, read, fed, documents, bytes, shards } = index
  const uses = [read ? 'read' : [], fed ? 'write target' : []].flat().join(', ') || 'not used'
  return [
    ['index', `${name} (${uses}, ${contentText(documents, bytes)})`],
    // The only shard of an index holds what the index holds.
    ...(shards.length > 1 ? shards : []).map((shard): [string, string] => [
      `shard ${shard.shard}`,
      contentText(shard.documents, shard.bytes),
    ]),
    ...oversizedRows(index),
  ]
}

function contentText(documents: number, bytes: number | null): string {
  const megabytes = ((bytes ?? 0) / 1_000_000).toFixed(1)
  // Soon after a reindex, OpenSearch reports hardly any bytes for what it has not flushed.
  const isKnown = bytes !== null && (documents === 0 || megabytes !== '0.0')
  return [`${documents} documents`, isKnown ? `${megabytes} MB` : []].flat().join(', ')
}

function oversizedRows({ name, shards }: IndexPartStatus): [string, string][] {
  const oversized = shards.filter((shard) => shard.oversized)
  if (oversized.length === 0) return []
  const numbers = oversized.map(({ shard }) => shard).join(', ')
  return [
    [
      'oversized shards',
      `${numbers} of ${name}: more than ${MAX_ADVISED_SHARD_BYTES / 1_000_000_000} GB. Run "index reindex --shards N" with N above ${shards.length}`,
    ],
  ]
}

function targetRows({ missing_targets, pending_targets }: IndexStatus): [string, string][] {
  const missing = missing_targets.map(({ name, next_step }): [string, string] => [
    'missing write target',
    `${name}: no change can be written. ${next_step}`,
  ])
  if (pending_targets.length === 0) return missing
  return [
    ...missing,
    ['new write targets', `${pending_targets.join(', ')}: requested, not applied yet`],
  ]
}

function missingFilterRows({ missing_filters }: IndexStatus): [string, string][] {
  if (missing_filters.length === 0) return []
  const names = missing_filters.join(', ')
  return [['refused filters', `${names}: the index lacks them; "index reindex" adds them`]]
}

function writerText(writer: NonNullable<IndexStatus['writer']>): string {
  const { holder, purpose, released, alive, lease_ms } = writer
  if (released) return `none now; the last was a ${purpose} of ${holder}`
  return `${purpose} of ${holder}, ${livenessText(alive, lease_ms)}`
}

function livenessText(alive: boolean | null, leaseMs: number): string {
  if (alive === null)
    return `no renewal of its lease of ${leaseMs} ms seen yet: --wait observes longer`
  return alive ? 'alive' : `did not renew its lease of ${leaseMs} ms`
}

function streamRows(stream: NonNullable<IndexStatus['stream']>): [string, string][] {
  return [
    ['stream backlog', `${stream.backlog}`],
    ['oldest unacknowledged', secondsText(stream.oldest_unacknowledged_seconds)],
    ['refused', `${stream.refused}`],
  ]
}

function lagText({ lag_seconds, newest_visible_change }: IndexStatus): string {
  const isUnknown = lag_seconds === null && newest_visible_change !== null
  return isUnknown
    ? 'unknown: the newest change is stamped in the future'
    : secondsText(lag_seconds)
}

function aheadText({ stamps_ahead_seconds: ahead }: IndexStatus): string {
  if (ahead * 1000 <= MAX_CLOCK_SKEW_MS) return `${ahead} s`
  return `${ahead} s: docker/recovery.md, "Write timestamps ahead of the clock"`
}

function secondsText(value: number | null): string {
  return value === null ? 'none' : `${value} s`
}
