import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { BatchCounts } from '../../indexing/sources/watch-batch.ts'

/** What a process counts that brings changes into the index. */
export interface IndexingMetrics {
  registry: Registry
  changes: Counter<'outcome'>
  /** Changes that were delivered, never written, and are gone from the stream. */
  lostChanges: Counter
  /** Seconds from the stream until a reader is shown a change. */
  lagSeconds: Histogram
  /** 1 while this process is the one that writes. */
  isWriter: Gauge
}

const OUTCOMES = ['written', 'unchanged', 'older', 'refused'] satisfies (keyof BatchCounts)[]

/** Seconds: from a change that met a refresh to an outage that was waited out. */
const LAG_BUCKETS = [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 30, 60, 120, 300]

/**
 * `backlog`: entries of the stream that are not acknowledged; `stampsAheadMs`: how far stamps are ahead of the
 * store's clock. Both are asked whenever the metrics are.
 */
export function createIndexingMetrics(
  backlog: () => Promise<number>,
  writeTimestampsAheadMs: () => Promise<number>,
): IndexingMetrics {
  const registry = new Registry()
  const registers = [registry]
  const changes = new Counter({
    name: 'indexing_changes_total',
    help: 'Changes read from the stream, by outcome: written, unchanged, older, refused.',
    labelNames: ['outcome'] as const,
    registers,
  })
  for (const outcome of OUTCOMES) changes.inc({ outcome }, 0)
  const lostChanges = new Counter({
    name: 'indexing_changes_lost_total',
    help: 'Changes that went from the stream after they were delivered and before they were written.',
    registers,
  })
  const lagSeconds = new Histogram({
    name: 'indexing_lag_seconds',
    help: 'Seconds from the entry of a written change into the stream until the API shows it.',
    buckets: LAG_BUCKETS,
    registers,
  })
  const isWriter = new Gauge({
    name: 'indexing_is_writer',
    help: '1 while this process writes, 0 while it stands by.',
    registers,
  })
  new Gauge({
    name: 'indexing_stream_backlog',
    help: 'Entries of the stream that are not acknowledged; NaN while the stream does not tell.',
    registers,
    async collect() {
      this.set(await backlog().catch(() => Number.NaN))
    },
  })
  const writeTimestampsAhead = new Gauge({
    name: 'indexing_stamps_ahead_seconds',
    help: "Seconds that stamps are ahead of the store's clock, 0 when they are not; NaN while the store does not tell.",
    registers,
    async collect() {
      this.set((await writeTimestampsAheadMs().catch(() => Number.NaN)) / 1000)
    },
  })
  writeTimestampsAhead.set(0)
  return { registry, changes, lostChanges, lagSeconds, isWriter }
}
