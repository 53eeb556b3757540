import {
  AggregatorRegistry,
  Counter,
  Gauge,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client'
import { registerDefaultMetrics } from './process.ts'

/** A metric and its values, as sent from a worker to the primary. */
export type MetricSnapshot = MetricObjectWithValues<MetricValue<string>>

/** A worker and its metrics; `undefined` when it does not respond in time. */
export interface MetricSource {
  id: number
  snapshot(): Promise<MetricSnapshot[] | undefined>
}

/** Metrics of all workers, aggregated as if they were one process. */
export interface AggregatedMetrics extends Pick<Registry, 'contentType' | 'metrics'> {
  /** The metrics of the primary itself. */
  registry: Registry
  /** The primary calls this when a worker has exited. */
  onExit(worker: Pick<MetricSource, 'id'>): void
}

/**
 * Sums the metrics of the workers and of this process. Counters never decrease, because Prometheus
 * would interpret that as a restart. So the last known values of a silent or exited worker remain
 * in the sum. Anything that a worker counted after its last response is lost when it exits.
 */
export function createAggregatedMetrics(
  workerCount: number,
  activeWorkers: () => readonly MetricSource[],
): AggregatedMetrics {
  const ownRegistry = new Registry()
  // Requests run in the workers, so the event loop of the primary would distort the figures.
  registerDefaultMetrics(ownRegistry)
  const registers = [ownRegistry]
  const workers = new Gauge({
    name: 'serving_workers',
    help: 'Workers by state: ok, silent (running, but not responding to the primary), missing.',
    labelNames: ['state'] as const,
    registers,
  })
  const exits = new Counter({
    name: 'serving_workers_ended_total',
    help: 'Workers that exited unexpectedly.',
    registers,
  })
  const latest = new Map<number, MetricSnapshot[]>()
  let exitedTotals: MetricSnapshot[] = []

  /** Stores the response in the same tick in which it arrives, so before `onExit` can run. */
  async function refresh(worker: MetricSource): Promise<boolean> {
    const snapshot = await worker.snapshot()
    if (snapshot !== undefined) latest.set(worker.id, snapshot)
    return snapshot !== undefined
  }

  return {
    registry: ownRegistry,
    contentType: ownRegistry.contentType,

    async metrics() {
      const active = activeWorkers()
      const responses = await Promise.all(active.map(refresh))
      const responded = responses.filter((hasResponded) => hasResponded).length
      workers.set({ state: 'ok' }, responded)
      workers.set({ state: 'silent' }, active.length - responded)
      workers.set({ state: 'missing' }, workerCount - active.length)
      const ownMetrics = (await ownRegistry.getMetricsAsJSON()).map(withFirstStartTime)
      return AggregatorRegistry.aggregate([ownMetrics, exitedTotals, ...latest.values()]).metrics()
    },

    onExit({ id }) {
      exits.inc()
      const cumulative = (latest.get(id) ?? []).filter(isCumulative)
      latest.delete(id)
      // The aggregating registry returns metrics with their values, unlike its declared type.
      const sums = AggregatorRegistry.aggregate([exitedTotals, cumulative]).getMetricsAsArray()
      exitedTotals = sums as MetricSnapshot[]
    },
  }
}

/** Reports the start time of the primary for the whole service. */
function withFirstStartTime(metric: MetricSnapshot): MetricSnapshot {
  return metric.name === 'process_start_time_seconds' ? { ...metric, aggregator: 'first' } : metric
}

function isCumulative({ type }: MetricSnapshot): boolean {
  return ['counter', 'histogram'].includes(String(type))
}
