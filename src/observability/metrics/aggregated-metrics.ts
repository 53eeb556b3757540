import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client'

/** A metric and its values, as a process hands them on. */
export type MetricSnapshot = MetricObjectWithValues<MetricValue<string>>

/** A process that serves, and what it has measured; `undefined` where it does not answer in time. */
export interface MetricSource {
  id: number
  snapshot(): Promise<MetricSnapshot[] | undefined>
}

/** What several processes measure that serve together, as if they were one. */
export interface AggregatedMetrics extends Pick<Registry, 'contentType' | 'metrics'> {
  /** To be told of a worker that has ended. */
  onExit(worker: Pick<MetricSource, 'id'>): void
}

/**
 * Adds up what the workers measured and what this process uses. No sum of what was counted ever goes back, as
 * Prometheus would take that for a restart of everything: a worker that does not answer counts with what it told last,
 * and so does one that has ended, for ever. What it counted since is lost with it.
 */
export function createAggregatedMetrics(
  workerCount: number,
  activeWorkers: () => readonly MetricSource[],
): AggregatedMetrics {
  const ownRegistry = new Registry()
  collectDefaultMetrics({ register: ownRegistry })
  removeEventLoopMetrics(ownRegistry)
  const registers = [ownRegistry]
  const workers = new Gauge({
    name: 'serving_workers',
    help: 'Workers by state: ok, silent (serves, and does not answer), missing.',
    labelNames: ['state'] as const,
    registers,
  })
  const exits = new Counter({
    name: 'serving_workers_ended_total',
    help: 'Workers that ended by themselves.',
    registers,
  })
  const latest = new Map<number, MetricSnapshot[]>()
  let exitedTotals: MetricSnapshot[] = []

  /** Keeps the answer in the turn in which it comes, so before the worker can be told to have ended. */
  async function refresh(worker: MetricSource): Promise<boolean> {
    const snapshot = await worker.snapshot()
    if (snapshot !== undefined) latest.set(worker.id, snapshot)
    return snapshot !== undefined
  }

  return {
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
      // What it has aggregated still carries its values.
      const sums = AggregatorRegistry.aggregate([exitedTotals, cumulative]).getMetricsAsArray()
      exitedTotals = sums as MetricSnapshot[]
    },
  }
}

/** Requests wait in the loops of the workers; this one's would only thin them out. */
function removeEventLoopMetrics(registry: Registry): void {
  for (const { name } of registry.getMetricsAsArray()) {
    if (name.startsWith('nodejs_eventloop_lag')) registry.removeSingleMetric(name)
  }
}

/** The service is as old as its primary. */
function withFirstStartTime(metric: MetricSnapshot): MetricSnapshot {
  return metric.name === 'process_start_time_seconds' ? { ...metric, aggregator: 'first' } : metric
}

function isCumulative({ type }: MetricSnapshot): boolean {
  return ['counter', 'histogram'].includes(String(type))
}
