import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { beforeEach, expect, it } from 'vitest'
import {
  type AggregatedMetrics,
  createAggregatedMetrics,
  type MetricSource,
} from '../../../../src/observability/metrics/aggregated-metrics.ts'
import { metricIn } from '../../../support/http/metric.ts'

/** A worker with metrics, which responds while it is awake. */
function createWorker(id: number) {
  const registry = new Registry()
  const registers = [registry]
  const requests = new Counter({ name: 'requests_total', help: '-', registers })
  const seconds = new Histogram({ name: 'seconds', help: '-', buckets: [1], registers })
  const bytes = new Gauge({ name: 'memory_bytes', help: '-', registers })
  const cpu = new Counter({ name: 'process_cpu_seconds_total', help: '-', registers })
  let isAwake = true
  return {
    id,
    wake(is: boolean) {
      isAwake = is
    },
    /** Records requests of half a second each. */
    answers(count: number) {
      requests.inc(count)
      for (let n = 0; n < count; n++) seconds.observe(0.5)
    },
    holds: (count: number) => bytes.set(count),
    works: (count: number) => cpu.inc(count),
    // As received over the IPC channel.
    async snapshot() {
      const measured = await registry.getMetricsAsJSON()
      return isAwake ? JSON.parse(JSON.stringify(measured)) : undefined
    },
  }
}

let one: ReturnType<typeof createWorker>
let other: ReturnType<typeof createWorker>
let serving: MetricSource[]
let metrics: AggregatedMetrics
beforeEach(() => {
  one = createWorker(1)
  other = createWorker(2)
  serving = [one, other]
  metrics = createAggregatedMetrics(2, () => serving)
})

async function aggregatedValues(...series: string[]): Promise<number[]> {
  const exposition = await metrics.metrics()
  return series.map((name) => metricIn(exposition, name))
}

function end(worker: MetricSource) {
  serving = serving.filter((living) => living !== worker)
  metrics.onExit(worker)
}

const STATES = ['ok', 'silent', 'missing'].map((state) => `serving_workers{state="${state}"}`)

it('the aggregated metrics sum the counters and gauges of all workers', async () => {
  one.answers(2)
  other.answers(3)
  one.holds(10)
  other.holds(20)
  expect(
    await aggregatedValues(
      'requests_total',
      'seconds_count',
      'seconds_sum',
      'seconds_bucket{le="1"}',
    ),
  ).toEqual([5, 5, 2.5, 5])
  expect(await aggregatedValues('memory_bytes')).toEqual([30])
})

it('the aggregated metrics include the CPU time of the primary', async () => {
  one.works(1_000)
  other.works(2_000)
  const [seconds] = await aggregatedValues('process_cpu_seconds_total')
  expect(seconds).toBeGreaterThan(3_000)
  expect(seconds).toBeLessThan(4_000)
})

it('the aggregated metrics have the start time of the primary, and not its event loop', async () => {
  const exposition = await metrics.metrics()
  const startedAt = metricIn(exposition, 'process_start_time_seconds')
  expect(Math.abs(startedAt - (Date.now() / 1000 - process.uptime()))).toBeLessThan(2)
  expect(exposition).not.toContain('eventloop')
})

it('the aggregated metrics count workers that are ok, silent and missing', async () => {
  expect(await aggregatedValues(...STATES)).toEqual([2, 0, 0])
  one.wake(false)
  expect(await aggregatedValues(...STATES)).toEqual([1, 1, 0])
  end(one)
  expect(await aggregatedValues(...STATES, 'serving_workers_ended_total')).toEqual([1, 0, 1, 1])
})

it('the aggregated metrics include the last values of a silent worker', async () => {
  one.answers(2)
  await metrics.metrics()
  one.answers(1)
  one.wake(false)
  other.answers(3)
  expect(await aggregatedValues('requests_total')).toEqual([5])
  one.wake(true)
  expect(await aggregatedValues('requests_total')).toEqual([6])
})

it('the aggregated metrics keep the counters of an exited worker, and drop its gauges', async () => {
  one.answers(2)
  one.holds(10)
  other.holds(20)
  await metrics.metrics()
  end(one)
  expect(
    await aggregatedValues('requests_total', 'seconds_count', 'seconds_bucket{le="1"}'),
  ).toEqual([2, 2, 2])
  expect(await aggregatedValues('memory_bytes')).toEqual([20])
})

it('the aggregated counters never decrease after workers exit', async () => {
  for (let id = 3; id < 13; id++) {
    const successor = createWorker(id)
    serving.push(successor)
    successor.answers(1)
    expect(await aggregatedValues('requests_total', 'seconds_sum')).toEqual([id - 2, (id - 2) / 2])
    end(successor)
    expect(await aggregatedValues('requests_total', 'seconds_sum')).toEqual([id - 2, (id - 2) / 2])
  }
})

it('the aggregated metrics drop the gauges of a worker that exits during a scrape', async () => {
  one.answers(2)
  one.holds(10)
  other.holds(20)
  const slow = Promise.withResolvers<undefined>()
  serving.push({ id: 3, snapshot: () => slow.promise })
  const scraped = metrics.metrics()
  await new Promise(setImmediate)
  end(one)
  slow.resolve(undefined)
  await scraped
  expect(await aggregatedValues('requests_total', 'memory_bytes')).toEqual([2, 20])
})
