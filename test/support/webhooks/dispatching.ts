import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, vi } from 'vitest'
import type { FoundView, ViewKey } from '../../../src/orders/order-store.ts'
import type { Delivery } from '../../../src/webhooks/deliveries/delivery.ts'
import {
  createRetrySchedule,
  DEFAULT_RETRY_DELAYS_MS,
} from '../../../src/webhooks/deliveries/retry-schedule.ts'
import { createDispatcher, type Dispatcher } from '../../../src/webhooks/dispatcher/dispatcher.ts'
import type { AttemptReport, Notice } from '../../../src/webhooks/dispatcher/dispatcher-events.ts'
import type { DispatcherOptions } from '../../../src/webhooks/dispatcher/dispatcher-options.ts'
import {
  type DispatcherSettings,
  defaultSettings,
} from '../../../src/webhooks/dispatcher/dispatcher-settings.ts'
import type { Endpoint } from '../../../src/webhooks/endpoints/endpoint.ts'
import type { EventType } from '../../../src/webhooks/events/event-types.ts'
import { createSigner } from '../../../src/webhooks/sending/signature.ts'
import type { WebhookStores } from '../../../src/webhooks/webhook-stores.ts'
import { endpoint } from './endpoint.ts'
import { eventRecord } from './event-record.ts'
import { createScriptedTime, type ScriptedTime } from './scripted-time.ts'
import { type RecordingReceiver, startRecordingReceiver } from './sending/recording-receiver.ts'
import { openSender } from './sending/sender.ts'
import type { WebhookStoresUnderTest } from './stores/stores-under-test.ts'
import { withEndpoints } from './stores/stubbed-stores.ts'

/** A dispatcher, its stores and a receiver on the loopback interface. */
export interface Dispatching {
  stores: WebhookStoresUnderTest
  receiver: RecordingReceiver
  time: ScriptedTime
  /** What the dispatcher reported. */
  attempts: AttemptReport[]
  notices: Notice[]
  log: string[]
  /** The views of orders; an order that is not here is rendered from its id. */
  views: Map<string, FoundView>
  /** Stores an endpoint whose URL is that of the receiver. */
  subscribe(changes?: Partial<Endpoint>): Promise<Endpoint>
  /** Changes an endpoint as a command does. */
  change(id: string, changes: Partial<Endpoint>): Promise<void>
  /** Waits until the dispatcher has read all changes of endpoints and applied them. */
  changesApplied(): Promise<void>
  /** Leaves the events of orders, each with the next sequence of its order. */
  announce(...events: (string | [orderId: string, type: EventType])[]): Promise<void>
  /** Starts another dispatcher over the same stores. */
  start(changes?: DispatcherChanges): RunningDispatcher
  /** Moves the time to the next attempt of an event, once this number of attempts is stored. */
  advanceToRetry(endpointId: string, eventName: string, attempts: number): Promise<void>
  /** All deliveries of an endpoint, oldest first; of one instant by sequence and order. */
  deliveries(endpointId: string): Promise<Delivery[]>
  /** Waits until the endpoint has this number of delivered events, and returns all deliveries. */
  delivers(endpointId: string, count: number): Promise<Delivery[]>
  /** The orders and sequences of received webhooks. */
  receivedOrders(): string[]
}

export type DispatcherChanges = Partial<Omit<DispatcherOptions, 'settings'>> & {
  settings?: Partial<DispatcherSettings>
}

export interface RunningDispatcher extends Pick<Dispatcher, 'usage'> {
  /** Rejects when it fails. */
  ended: Promise<void>
  /** Stops it, and waits for its end. */
  stop(): Promise<void>
}

const SECRETS = [{ kid: 'k1', secret: Buffer.alloc(32, 7) }]

/** Opens stores and a receiver, which are closed after the test, and starts no dispatcher yet. */
export async function openDispatching(
  open: () => Promise<WebhookStoresUnderTest>,
): Promise<Dispatching> {
  const stores = await open()
  const receiver = await startRecordingReceiver()
  const time = createScriptedTime()
  const running: RunningDispatcher[] = []
  const sender = openSender()
  onTestFinished(async () => {
    const stopped = running.map((dispatcher) => dispatcher.stop())
    // Ends the requests without a response, for which dispatchers and sender wait.
    await receiver.close()
    await Promise.all(stopped)
    await stores.close()
  })
  const sequences = new Map<string, number>()
  let endpoints = 0
  let endpointReads = 0

  const dispatching: Dispatching = {
    stores,
    receiver,
    time,
    attempts: [],
    notices: [],
    log: [],
    views: new Map(),
    async subscribe(changes = {}) {
      endpoints += 1
      const created = endpoint({
        id: `we_${`${endpoints}`.padStart(32, '0')}`,
        url: receiver.url(),
        createdAt: time.clock() - 1_000,
        startsAt: time.clock(),
        lastSuccessAt: time.clock(),
        ...changes,
      })
      await stores.endpoints.insert(created)
      return created
    },
    async change(id, changes) {
      await stores.endpoints.update(id, (current) => ({ ...current, ...changes }))
    },
    async changesApplied() {
      // One read may have begun before the change; the third begins after the second was applied.
      const read = endpointReads + 3
      await eventually(() => expect(endpointReads).toBeGreaterThanOrEqual(read))
    },
    async announce(...events) {
      const records = events.map((event) => {
        const [orderId, type] = typeof event === 'string' ? [event, 'order.paid' as const] : event
        const sequence = (sequences.get(orderId) ?? 0) + 1
        sequences.set(orderId, sequence)
        return eventRecord(orderId, sequence, {
          recordedAt: time.clock(),
          events: [{ sequence, type, accountIds: ['acc_1'] }],
        })
      })
      await stores.record(...records)
    },
    start(changes = {}) {
      const stopping = new AbortController()
      const dispatcher = createDispatcher({
        orders: { getMany: async (keys) => keys.map(viewOf) },
        sender,
        sign: createSigner(SECRETS),
        sendNotice: null,
        schedule: SCHEDULE,
        clock: time.clock,
        monotonic: time.monotonic,
        events: eventsOf(dispatching),
        version: '1.2.3',
        ...changes,
        stores: countingReads(changes.stores ?? stores),
        settings: { ...FAST, ...changes.settings },
      })
      const ended = dispatcher.run(stopping.signal)
      const end = ended.catch(() => {})
      const runs = {
        usage: dispatcher.usage,
        ended,
        stop() {
          stopping.abort()
          return end
        },
      }
      running.push(runs)
      return runs
    },
    async advanceToRetry(endpointId, eventName, attempts) {
      const nextAt = await eventually(async () => {
        const found = await dispatching.deliveries(endpointId)
        const delivery = found.find(
          ({ event }) => `${event.orderId} ${event.sequence}` === eventName,
        )
        expect(delivery?.attempts).toHaveLength(attempts)
        return delivery?.nextAt ?? 0
      })
      time.advance(Math.max(0, nextAt - time.clock()))
    },
    async deliveries(endpointId) {
      const found = await stores.deliveries.list({ endpointId, limit: 10_000 })
      // The list sorts deliveries of one instant by an id that differs in each run.
      return found.reverse().sort(byRecord)
    },
    delivers: (endpointId, count) =>
      eventually(async () => {
        const found = await dispatching.deliveries(endpointId)
        expect(found.filter(({ state }) => state === 'delivered')).toHaveLength(count)
        return found
      }),
    receivedOrders: () => receiver.received.map(({ body }) => `${body.order_id} ${body.sequence}`),
  }

  function countingReads<Stores extends Pick<WebhookStores, 'endpoints'>>(read: Stores): Stores {
    return withEndpoints(read, {
      changes(token) {
        endpointReads += 1
        return read.endpoints.changes(token)
      },
    })
  }
  function viewOf({ orderId }: ViewKey): FoundView {
    const view = dispatching.views.get(orderId)
    return view === undefined ? Buffer.from(JSON.stringify({ id: orderId })) : view
  }
  return dispatching
}

/**
 * Short, so that a test does not wait. Only its first load searches all endpoints, unless the test
 * sets it: a jump of the clock during a later one would count as a clock that was ahead.
 */
const FAST = {
  ...defaultSettings,
  pollMs: 5,
  tickMs: 5,
  healthMs: 5,
  refreshMs: 20,
  stopMs: 5_000,
  reloadMs: Number.POSITIVE_INFINITY,
}

/** The second attempt comes after 20 s, which a test does not reach unless it advances the time. */
const SCHEDULE = createRetrySchedule(DEFAULT_RETRY_DELAYS_MS.with(1, 20_000), () => 0.5)

function eventsOf({ attempts, notices, log }: Dispatching): DispatcherOptions['events'] {
  return {
    onOutage: (reason) => log.push(`outage: ${reason}`),
    onRecovered: () => log.push('recovered'),
    onStandby: () => log.push('standby'),
    onDispatcher: (isDispatcher) => log.push(isDispatcher ? 'delivers' : 'ended'),
    onLeaseLost: () => log.push('lease lost'),
    onAttempt: (report) => attempts.push(report),
    onBreaker: (_id, isOpen) => log.push(isOpen ? 'breaker open' : 'breaker closed'),
    onNotice: (notice) => notices.push(notice),
    onNoticeFailed: (_notice, reason) => log.push(`notice failed: ${reason}`),
  }
}

function byRecord({ event: one }: Delivery, { event: other }: Delivery): number {
  return (
    one.recordedAt - other.recordedAt ||
    (one.sequence ?? 0) - (other.sequence ?? 0) ||
    (one.orderId ?? '').localeCompare(other.orderId ?? '')
  )
}

/** Waits until something has had the time to happen that must not happen. */
export const quietPeriod = () => pause(100)

/** Waits until `check` passes; long, because a process may have to start on a busy machine. */
export function eventually<T>(check: () => T | Promise<T>, intervalMs = 20): Promise<T> {
  return vi.waitFor(check, { timeout: 60_000, interval: intervalMs })
}
