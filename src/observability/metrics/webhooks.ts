import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { wallClock } from '../../lib/clock.ts'
import { type BacklogStores, readBacklog } from '../../webhooks/backlog.ts'
import type { DeliveryBacklog } from '../../webhooks/deliveries/delivery-store.ts'
import { attemptOutcomes } from '../../webhooks/dispatcher/dispatcher-events.ts'
import type { EndpointStore } from '../../webhooks/endpoints/endpoint-store.ts'
import { LAG_BUCKETS } from './buckets.ts'

/** Metrics of a process that delivers webhooks. */
export interface WebhookMetrics {
  attempts: Counter<'outcome'>
  /** Seconds from the record of an event until its receiver returned a 2xx. */
  deliverySeconds: Histogram
  /** 1 while this process is the dispatcher. */
  isDispatcher: Gauge
  /** Endpoints that the dispatcher disabled. */
  disabledEndpoints: Counter<'reason'>
}

/** What each scrape reads. */
export interface MeasuredStores extends BacklogStores {
  endpoints: Pick<EndpointStore, 'counts'>
}

const ENDPOINT_STATES = ['enabled', 'failing', 'disabled'] as const
const DISABLED_BY_DISPATCHER = ['failing', 'gone'] as const

/** Adds the metrics to the registry. Gauges are NaN while the store is unavailable. */
export function createWebhookMetrics(
  registry: Registry,
  { deliveries, events, endpoints }: MeasuredStores,
): WebhookMetrics {
  const registers = [registry]
  const attempts = new Counter({
    name: 'webhook_attempts_total',
    help: 'Attempts to deliver an event, by outcome: delivered, retrying, failed, expired, canceled.',
    labelNames: ['outcome'] as const,
    registers,
  })
  for (const outcome of attemptOutcomes) attempts.inc({ outcome }, 0)
  const deliverySeconds = new Histogram({
    name: 'webhook_delivery_seconds',
    help: 'Seconds from the record of an event until its receiver returned a 2xx.',
    buckets: LAG_BUCKETS,
    registers,
  })
  const isDispatcher = new Gauge({
    name: 'webhook_is_dispatcher',
    help: '1 while this process delivers webhooks, 0 while it is on standby.',
    registers,
  })
  const disabledEndpoints = new Counter({
    name: 'webhook_endpoints_disabled_total',
    help: 'Endpoints that the dispatcher disabled, by reason: failing, gone.',
    labelNames: ['reason'] as const,
    registers,
  })
  for (const reason of DISABLED_BY_DISPATCHER) disabledEndpoints.inc({ reason }, 0)
  let reading: Promise<DeliveryBacklog | null> | null = null
  /** The gauges of one scrape share a read. */
  function sharedBacklog(): Promise<DeliveryBacklog | null> {
    reading ??= readBacklog({ deliveries, events }, wallClock())
      .catch(() => null)
      .finally(() => {
        reading = null
      })
    return reading
  }
  new Gauge({
    name: 'webhook_oldest_due_seconds',
    help: 'Seconds since the oldest delivery became due, or the oldest event without deliveries was recorded; 0 without both, NaN while the store is unavailable.',
    registers,
    async collect() {
      const found = await sharedBacklog()
      this.set(found === null ? Number.NaN : secondsSince(found.oldestDueAt))
    },
  })
  new Gauge({
    name: 'webhook_due_deliveries',
    help: 'Deliveries that are due, and events without deliveries; NaN while the store is unavailable.',
    registers,
    async collect() {
      this.set((await sharedBacklog())?.due ?? Number.NaN)
    },
  })
  new Gauge({
    name: 'webhook_endpoints',
    help: 'Endpoints by state: enabled, failing, disabled; NaN while the store is unavailable.',
    labelNames: ['state'] as const,
    registers,
    async collect() {
      const found = await endpoints.counts().catch(() => null)
      for (const state of ENDPOINT_STATES) this.set({ state }, found?.[state] ?? Number.NaN)
    },
  })
  return { attempts, deliverySeconds, isDispatcher, disabledEndpoints }
}

function secondsSince(ms: number | null): number {
  return ms === null ? 0 : Math.max(0, (wallClock() - ms) / 1000)
}
