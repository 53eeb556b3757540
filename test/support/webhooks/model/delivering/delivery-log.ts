import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../../../../../src/demo/random.ts'
import type { Clock } from '../../../../../src/lib/clock.ts'
import { Unavailable } from '../../../../../src/lib/errors/unavailable.ts'
import type { Order } from '../../../../../src/orders/order.ts'
import type { Delivery } from '../../../../../src/webhooks/deliveries/delivery.ts'
import type { OrderViews } from '../../../../../src/webhooks/dispatcher/attempts.ts'
import {
  type AccountEvent,
  accountEvents,
  type EventRecord,
} from '../../../../../src/webhooks/events/event-record.ts'
import type { EventPage, WebhookStores } from '../../../../../src/webhooks/webhook-stores.ts'

/** An event, and its record. */
export interface KnownEvent extends AccountEvent {
  version: number
  /** When its deliveries were stored, epoch milliseconds. */
  fannedOutAt: number | null
}

/** What the stores did for dispatchers, seen below every fault. */
export interface DeliveryLog {
  records: readonly EventRecord[]
  events: ReadonlyMap<string, KnownEvent>
  /** Whether a 2xx of this event is stored for this endpoint. */
  isDelivered(endpointId: string, eventId: string): boolean
  /** The view that a dispatcher read last; `undefined` before it read any. */
  lastRead(accountId: string, orderId: string): Order | null | undefined
  /** The number of reads of views that began, and which of them ended last. */
  reads(): { begun: number; ended: number }
  /** Whether any dispatcher ever found no view. */
  wasMissing(accountId: string, orderId: string): boolean
  /** The sequence of the last `order.removed` whose deliveries are stored; 0 without one. */
  removedBefore(accountId: string, orderId: string): number
  /** Counts the calls that change a store, and those in progress. */
  activity(): { count: number; inProgress: number; idlePolls: number }
  /** The same stores, observed. */
  observe<Stores extends DispatcherStores>(stores: Stores): Stores
  observeViews(orders: OrderViews): OrderViews
}

/** The stores that a dispatcher needs. */
export type DispatcherStores = Pick<
  WebhookStores,
  'endpoints' | 'deliveries' | 'events' | 'acquireLease'
>

/** Creates an empty log. `onRecord` receives each record before its deliveries are planned. */
export function createDeliveryLog(
  clock: Clock,
  random: Random,
  onRecord: (record: EventRecord) => Promise<void>,
): DeliveryLog {
  const records: EventRecord[] = []
  const events = new Map<string, KnownEvent>()
  const delivered = new Set<string>()
  const views = new Map<string, Order | null>()
  const missing = new Set<string>()
  const removed = new Map<string, number>()
  const reads = { begun: 0, ended: 0 }
  let count = 0
  let inProgress = 0
  let idlePolls = 0
  const keyOf = (...parts: string[]) => parts.join(' ')

  /** Real time: the embedded store never yields, and a remote one responds in any order. */
  async function delay(): Promise<void> {
    if (random.chance(0.3)) await pause(random.between(0, 4))
  }

  /** Runs a call that may change what a dispatcher does next. */
  async function busy<T>(call: () => Promise<T>): Promise<T> {
    count += 1
    inProgress += 1
    idlePolls = 0
    try {
      await delay()
      return await call()
    } finally {
      inProgress -= 1
    }
  }

  async function learn(page: EventPage): Promise<void> {
    for (const record of page.records) {
      const found = accountEvents(record)
      if (found.every(({ id }) => events.has(id))) continue
      records.push(record)
      for (const event of found) {
        events.set(event.id, { ...event, version: record.version, fannedOutAt: null })
      }
      await onRecord(record)
    }
  }

  function noteFanOut(page: EventPage): void {
    for (const { id } of page.records.flatMap(accountEvents)) {
      const event = events.get(id)
      if (event === undefined) continue
      event.fannedOutAt ??= clock()
      if (event.type !== 'order.removed') continue
      const key = keyOf(event.accountId, event.orderId)
      removed.set(key, Math.max(removed.get(key) ?? 0, event.sequence))
    }
  }

  function noteSaved(saved: readonly (Delivery | null)[]): void {
    for (const delivery of saved) {
      if (delivery?.state === 'delivered') {
        delivered.add(keyOf(delivery.endpointId, delivery.event.id))
      }
    }
  }

  return {
    records,
    events,
    isDelivered: (endpointId, eventId) => delivered.has(keyOf(endpointId, eventId)),
    lastRead: (accountId, orderId) => views.get(keyOf(accountId, orderId)),
    reads: () => ({ ...reads }),
    wasMissing: (accountId, orderId) => missing.has(keyOf(accountId, orderId)),
    removedBefore: (accountId, orderId) => removed.get(keyOf(accountId, orderId)) ?? 0,
    activity: () => ({ count, inProgress, idlePolls }),
    observe: (stores) => ({
      ...stores,
      events: {
        ...stores.events,
        async next(limit) {
          const page = await stores.events.next(limit)
          if (page === null) {
            idlePolls += 1
            return null
          }
          await busy(() => learn(page))
          await delay()
          return {
            records: page.records,
            fanOut: (deliveries) =>
              busy(async () => {
                const created = await page.fanOut(deliveries)
                noteFanOut(page)
                return created
              }),
          }
        },
      },
      deliveries: {
        ...stores.deliveries,
        due: (query) => busy(() => stores.deliveries.due(query)),
        hold: (...args) => busy(() => stores.deliveries.hold(...args)),
        releaseHeld: (...args) => busy(() => stores.deliveries.releaseHeld(...args)),
        cancel: (id) => busy(() => stores.deliveries.cancel(id)),
        forgetOrders: (removals) => busy(() => stores.deliveries.forgetOrders(removals)),
        save: (rows) =>
          busy(async () => {
            const saved = await stores.deliveries.save(rows)
            noteSaved(saved)
            return saved
          }),
      },
      endpoints: {
        ...stores.endpoints,
        update: (...args) => busy(() => stores.endpoints.update(...args)),
      },
    }),
    observeViews: (orders) => ({
      getMany: (keys) =>
        busy(async () => {
          reads.begun += 1
          const { begun } = reads
          const found = await orders.getMany(keys)
          reads.ended = begun
          for (const [at, { accountId, orderId }] of keys.entries()) {
            const view = found[at] ?? null
            if (view instanceof Unavailable || view === 'unreadable') continue
            const json = view === 'missing' ? null : view
            const order = json && (JSON.parse(Buffer.from(json).toString()) as Order)
            views.set(keyOf(accountId, orderId), order)
            if (order === null) missing.add(keyOf(accountId, orderId))
          }
          return found
        }),
    }),
  }
}
