import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { BatchCounts } from './indexing/sources/watch-batch.ts'
import type { LimiterDecision } from './limits/degraded-limiter.ts'

/** What the process counts, for the operations port to show. */
export interface Metrics {
  registry: Registry
  /** Seconds a request took; `route` is its pattern, `none` where there is none. */
  requestSeconds: Histogram<'method' | 'route' | 'status'>
  /** Decisions on limits that this process made by itself, because Redis did not answer in time. */
  degradedDecisions: Counter<'decision'>
}

const LIMITER_DECISIONS = ['take', 'blocked', 'count_failure'] satisfies LimiterDecision[]

/** Seconds: from a page out of memory to the deadline of a search. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

export function createMetrics(): Metrics {
  const registry = new Registry()
  const requestSeconds = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Seconds a request of the API took, by method, route and status.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: BUCKETS,
    registers: [registry],
  })
  const degradedDecisions = new Counter({
    name: 'limiter_degraded_decisions_total',
    help: 'Decisions on limits made by this process alone, because Redis did not answer in time.',
    labelNames: ['decision'] as const,
    registers: [registry],
  })
  // From zero on, so that the first one is seen as an increase.
  for (const decision of LIMITER_DECISIONS) degradedDecisions.inc({ decision }, 0)
  return { registry, requestSeconds, degradedDecisions }
}

/** What a process counts that brings changes into the index. */
export interface IndexingMetrics {
  registry: Registry
  changes: Counter<'outcome'>
  /** Changes that were delivered, never written, and are gone from the stream. */
  lost: Counter
  /** Seconds from the stream until a reader is shown a change. */
  lagSeconds: Histogram
  /** 1 while this process is the one that writes. */
  isWriter: Gauge
}

const OUTCOMES = ['written', 'unchanged', 'older', 'refused'] satisfies (keyof BatchCounts)[]

/** Seconds: from a change that met a refresh to an outage that was waited out. */
const LAG_BUCKETS = [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 30, 60, 120, 300]

/** `backlog`: entries of the stream that are not acknowledged; asked whenever the metrics are. */
export function createIndexingMetrics(backlog: () => Promise<number>): IndexingMetrics {
  const registry = new Registry()
  const registers = [registry]
  const changes = new Counter({
    name: 'indexing_changes_total',
    help: 'Changes read from the stream, by outcome: written, unchanged, older, refused.',
    labelNames: ['outcome'] as const,
    registers,
  })
  for (const outcome of OUTCOMES) changes.inc({ outcome }, 0)
  const lost = new Counter({
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
  return { registry, changes, lost, lagSeconds, isWriter }
}

/** Adds what the process itself tells: CPU, memory, event loop. Once a process. */
export function watchProcess({ registry }: Pick<Metrics, 'registry'>): void {
  collectDefaultMetrics({ register: registry })
}
