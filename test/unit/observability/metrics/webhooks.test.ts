import { Registry } from 'prom-client'
import { expect, it, vi } from 'vitest'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import {
  createWebhookMetrics,
  type MeasuredStores,
} from '../../../../src/observability/metrics/webhooks.ts'
import { metricIn } from '../../../support/http/metric.ts'

type Reads = MeasuredStores['deliveries'] & MeasuredStores['endpoints']

const IDLE: Reads = {
  backlog: async () => ({ due: 0, oldestDueAt: null }),
  counts: async () => ({ enabled: 0, failing: 0, disabled: 0 }),
}

const NO_EVENTS = { backlog: async () => ({ records: 0, oldestRecordedAt: null }) }

function open(reads: Partial<Reads> = {}, events: MeasuredStores['events'] = NO_EVENTS) {
  const registry = new Registry()
  const store = { ...IDLE, ...reads }
  const metrics = createWebhookMetrics(registry, {
    deliveries: store,
    events,
    endpoints: store,
  })
  /** The values of these series. */
  async function read(...series: string[]): Promise<number[]> {
    const exposition = await registry.metrics()
    return series.map((name) => metricIn(exposition, name))
  }
  return { metrics, read }
}

const unavailable = async () => {
  throw new Unavailable('no response')
}

it('every series of webhooks is zero before the first event', async () => {
  const { read } = open()
  expect(
    await read(
      'webhook_attempts_total{outcome="delivered"}',
      'webhook_attempts_total{outcome="retrying"}',
      'webhook_attempts_total{outcome="failed"}',
      'webhook_attempts_total{outcome="expired"}',
      'webhook_attempts_total{outcome="canceled"}',
      'webhook_delivery_seconds_count',
      'webhook_is_dispatcher',
      'webhook_endpoints_disabled_total{reason="failing"}',
      'webhook_endpoints_disabled_total{reason="gone"}',
      'webhook_due_deliveries',
      'webhook_oldest_due_seconds',
      'webhook_endpoints{state="enabled"}',
      'webhook_endpoints{state="failing"}',
      'webhook_endpoints{state="disabled"}',
    ),
  ).toEqual(Array.from({ length: 14 }, () => 0))
})

it('each scrape reads the backlog and the endpoints of the store once', async () => {
  vi.spyOn(Date, 'now').mockReturnValue(70_000)
  const backlog = vi.fn(async () => ({ due: 3, oldestDueAt: 10_000 }))
  const counts = vi.fn(async () => ({ enabled: 5, failing: 2, disabled: 1 }))
  const { read } = open({ backlog, counts })
  const series = [
    'webhook_due_deliveries',
    'webhook_oldest_due_seconds',
    'webhook_endpoints{state="enabled"}',
    'webhook_endpoints{state="failing"}',
    'webhook_endpoints{state="disabled"}',
  ]
  expect(await read(...series)).toEqual([3, 60, 5, 2, 1])
  await read()
  expect([backlog, counts].map(({ mock }) => mock.calls.length)).toEqual([2, 2])
})

it('the gauges of the backlog count the events without deliveries', async () => {
  vi.spyOn(Date, 'now').mockReturnValue(70_000)
  const events = { backlog: async () => ({ records: 2, oldestRecordedAt: 4_000 }) }
  const { read } = open({ backlog: async () => ({ due: 3, oldestDueAt: 10_000 }) }, events)
  expect(await read('webhook_due_deliveries', 'webhook_oldest_due_seconds')).toEqual([5, 66])
})

it('a delivery that is due in the future by another clock is not overdue', async () => {
  const { read } = open({ backlog: async () => ({ due: 1, oldestDueAt: Date.now() + 60_000 }) })
  expect(await read('webhook_oldest_due_seconds')).toEqual([0])
})

it('the gauges of webhooks are NaN while the store is unavailable, and counters remain', async () => {
  const { metrics, read } = open({ backlog: unavailable, counts: unavailable })
  metrics.attempts.inc({ outcome: 'delivered' })
  expect(
    await read(
      'webhook_due_deliveries',
      'webhook_oldest_due_seconds',
      'webhook_endpoints{state="enabled"}',
      'webhook_attempts_total{outcome="delivered"}',
    ),
  ).toEqual([Number.NaN, Number.NaN, Number.NaN, 1])
})
