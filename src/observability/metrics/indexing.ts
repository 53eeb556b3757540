import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { BatchCounts } from '../../indexing/sources/watch-batch.ts'
import { LAG_BUCKETS } from './buckets.ts'

/** Metrics of an indexing process. */
export interface IndexingMetrics {
  registry: Registry
  changes: Counter<'outcome'>
  /** Changes removed from the stream before they were written. */
  lostChanges: Counter
  /** Seconds from the entry of a change into the stream until the API returns it. */
  lagSeconds: Histogram
  /** 1 while this process is the writer. */
  isWriter: Gauge
}

const OUTCOMES = ['written', 'unchanged', 'older', 'refused'] satisfies (keyof BatchCounts)[]

/**
 * `backlog` counts unacknowledged entries of the stream. `writeTimestampsAheadMs` is how far write
 * timestamps are ahead of the store's clock. `isAliasFaulty`: clients miss orders because of the
 * read alias. Each scrape calls all three.
 */
export function createIndexingMetrics(
  backlog: () => Promise<number>,
  writeTimestampsAheadMs: () => Promise<number>,
  isAliasFaulty: () => boolean,
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
    help: 'Changes removed from the stream before they were written.',
    registers,
  })
  const lagSeconds = new Histogram({
    name: 'indexing_lag_seconds',
    help: 'Seconds from the entry of a written change into the stream until the API returns it.',
    buckets: LAG_BUCKETS,
    registers,
  })
  const isWriter = new Gauge({
    name: 'indexing_is_writer',
    help: '1 while this process is the writer, 0 while it is on standby.',
    registers,
  })
  new Gauge({
    name: 'indexing_stream_backlog',
    help: 'Unacknowledged entries of the stream; NaN while the stream is unavailable.',
    registers,
    async collect() {
      this.set(await backlog().catch(() => Number.NaN))
    },
  })
  const writeTimestampsAhead = new Gauge({
    name: 'indexing_stamps_ahead_seconds',
    help: "Seconds by which write timestamps are ahead of the store's clock, or 0; NaN while the store is unavailable.",
    registers,
    async collect() {
      this.set((await writeTimestampsAheadMs().catch(() => Number.NaN)) / 1000)
    },
  })
  writeTimestampsAhead.set(0)
  new Gauge({
    name: 'indexing_read_alias_faulty',
    help: '1 while the read alias has a filter, or is not on the live index alone; 0 otherwise.',
    registers,
    collect() {
      this.set(Number(isAliasFaulty()))
    },
  })
  return { registry, changes, lostChanges, lagSeconds, isWriter }
}
