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
export type Measured = MetricObjectWithValues<MetricValue<string>>

/** A process that serves, and what it has measured; `undefined` where it does not answer in time. */
export interface Measuring {
  id: number
  measure(): Promise<Measured[] | undefined>
}

/** What several processes measure that serve together, as if they were one. */
export interface WorkersMetrics extends Pick<Registry, 'contentType' | 'metrics'> {
  /** To be told of a worker that has ended. */
  onEnded(worker: Pick<Measuring, 'id'>): void
}

/**
 * Adds up what the workers measured and what this process uses. No sum of what was counted ever goes back, as
 * Prometheus would take that for a restart of everything: a worker that does not answer counts with what it told last,
 * and so does one that has ended, for ever. What it counted since is lost with it.
 */
export function createWorkersMetrics(
  size: number,
  serving: () => readonly Measuring[],
): WorkersMetrics {
  const own = new Registry()
  collectDefaultMetrics({ register: own })
  dropEventLoop(own)
  const registers = [own]
  const workers = new Gauge({
    name: 'serving_workers',
    help: 'Workers by state: ok, silent (serves, and does not answer), missing.',
    labelNames: ['state'] as const,
    registers,
  })
  const ended = new Counter({
    name: 'serving_workers_ended_total',
    help: 'Workers that ended by themselves.',
    registers,
  })
  const latest = new Map<number, Measured[]>()
  let departed: Measured[] = []

  /** Keeps the answer in the turn in which it comes, so before the worker can be told to have ended. */
  async function measure(worker: Measuring): Promise<boolean> {
    const measured = await worker.measure()
    if (measured !== undefined) latest.set(worker.id, measured)
    return measured !== undefined
  }

  return {
    contentType: own.contentType,

    async metrics() {
      const asked = serving()
      const answers = await Promise.all(asked.map(measure))
      const answered = answers.filter((isAnswered) => isAnswered).length
      workers.set({ state: 'ok' }, answered)
      workers.set({ state: 'silent' }, asked.length - answered)
      workers.set({ state: 'missing' }, size - asked.length)
      const here = (await own.getMetricsAsJSON()).map(startedOnce)
      return AggregatorRegistry.aggregate([here, departed, ...latest.values()]).metrics()
    },

    onEnded({ id }) {
      ended.inc()
      const counted = (latest.get(id) ?? []).filter(isCounted)
      latest.delete(id)
      // What it has aggregated still carries its values.
      const sums = AggregatorRegistry.aggregate([departed, counted]).getMetricsAsArray()
      departed = sums as Measured[]
    },
  }
}

/** Requests wait in the loops of the workers; this one's would only thin them out. */
function dropEventLoop(registry: Registry): void {
  for (const { name } of registry.getMetricsAsArray()) {
    if (name.startsWith('nodejs_eventloop_lag')) registry.removeSingleMetric(name)
  }
}

/** The service is as old as its primary. */
function startedOnce(metric: Measured): Measured {
  return metric.name === 'process_start_time_seconds' ? { ...metric, aggregator: 'first' } : metric
}

function isCounted({ type }: Measured): boolean {
  return ['counter', 'histogram'].includes(String(type))
}
