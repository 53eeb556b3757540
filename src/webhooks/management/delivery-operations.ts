import { interruptiblePause } from '../../lib/async/interruptible-pause.ts'
import type { Clock } from '../../lib/clock.ts'
import { DAY_MS } from '../../lib/durations.ts'
import type { OrderStore } from '../../orders/order-store.ts'
import { type Delivery, type DeliveryState, pendingAt } from '../deliveries/delivery.ts'
import type { DeliveryPosition, DeliveryStore } from '../deliveries/delivery-store.ts'
import type { EndpointStore } from '../endpoints/endpoint-store.ts'
import { assertEnabled, findEndpoint, isOf, type Target, touchEndpoint } from './endpoint-target.ts'
import { testDelivery } from './test-delivery.ts'
import { WebhookError } from './webhook-error.ts'

export interface DeliveryOperationsOptions {
  endpoints: Pick<EndpointStore, 'byId' | 'update'>
  deliveries: Pick<DeliveryStore, 'create' | 'byId' | 'list' | 'save' | 'replay'>
  orders: Pick<OrderStore, 'get'>
  /** How long deliveries are kept. */
  retentionMs: number
  /** Epoch milliseconds. */
  clock: Clock
}

export interface DeliveryListOptions {
  /** Every state when absent. */
  states?: readonly DeliveryState[]
  limit?: number
  /** Only deliveries after this one in the list; from the newest when absent. */
  after?: DeliveryPosition
}

export interface ReplayOptions {
  /**
   * Epoch milliseconds: the events since this instant are sent again, and undelivered earlier ones
   * that began to fail or were held since then.
   */
  sinceMs: number
  /** Only what failed or expired; otherwise also what was delivered. */
  failedOnly?: boolean
}

export interface AttemptWait {
  /** The maximum wait. */
  timeoutMs: number
  /** Milliseconds. */
  monotonic: Clock
  signal?: AbortSignal
}

export const DEFAULT_LISTED_DELIVERIES = 100
/**
 * Exceeds a page of the management API, because one item more than a page shows whether another
 * page follows.
 */
export const MAX_LISTED_DELIVERIES = 1_000
const POLL_MS = 100
/** A dispatcher changes a delivery at most once while an attempt is in flight. */
const MAX_SAVES = 5

/**
 * Creates the operations on deliveries, for commands and for the management API. Calls throw
 * WebhookError and Unavailable.
 */
export function createDeliveryOperations({
  endpoints,
  deliveries,
  orders,
  retentionMs,
  clock,
}: DeliveryOperationsOptions) {
  async function findDelivery(target: Target) {
    const delivery = await deliveries.byId(target.id)
    if (delivery !== null && isOf(target, delivery)) return delivery
    throw new WebhookError(
      'delivery_missing',
      `there is no delivery ${target.id}; the list of an endpoint's deliveries has their ids`,
    )
  }

  /** @throws WebhookError `order_removed` */
  async function assertVisible({ accountId, event }: Delivery): Promise<void> {
    const { type, orderId } = event
    // That event itself reports the removal, and carries only the id.
    if (orderId === null || type === 'order.removed') return
    if ((await orders.get(accountId, orderId)) !== null) return
    throw new WebhookError(
      'order_removed',
      `the account ${accountId} no longer has the order ${orderId}: it was erased, or the account no longer takes part, so nothing about it is sent`,
    )
  }

  /** A later event of its order may wait for it, and is due at the instant of its record. */
  function dueAtOnce({ state, event }: Delivery): number {
    const isAwaited = state === 'pending' && event.orderId !== null
    return isAwaited ? Math.min(clock(), event.recordedAt) : clock()
  }

  return {
    /**
     * Creates a delivery of type `webhook.test`, which is due at once.
     * @throws WebhookError `endpoint_missing`, `endpoint_disabled`
     */
    async sendTest(target: Target): Promise<Delivery> {
      const endpoint = await findEndpoint(endpoints, target)
      assertEnabled(endpoint)
      const delivery = testDelivery(endpoint, clock())
      await deliveries.create([delivery])
      await touchEndpoint(endpoints, endpoint.id)
      return delivery
    },

    /** Waits for the next attempt of a delivery. Returns the delivery as it is then. */
    async awaitAttempt(
      sent: Delivery,
      { timeoutMs, monotonic, signal }: AttemptWait,
    ): Promise<Delivery> {
      const deadline = monotonic() + timeoutMs
      for (;;) {
        const current = (await deliveries.byId(sent.id)) ?? sent
        const isAttempted = current.attempts.length > sent.attempts.length
        if (isAttempted || current.state !== 'pending' || monotonic() >= deadline) return current
        await interruptiblePause(POLL_MS, signal, 'waiting for the attempt')
      }
    },

    /**
     * The deliveries of an endpoint, newest first.
     * @throws WebhookError `endpoint_missing`, `invalid_limit`
     */
    async listDeliveries(
      target: Target,
      { limit = DEFAULT_LISTED_DELIVERIES, ...options }: DeliveryListOptions = {},
    ): Promise<Delivery[]> {
      if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LISTED_DELIVERIES) {
        const message = `the limit is not valid: expected an integer from 1 to ${MAX_LISTED_DELIVERIES}`
        throw new WebhookError('invalid_limit', message)
      }
      const { id } = await findEndpoint(endpoints, target)
      return deliveries.list({ endpointId: id, limit, ...options })
    },

    /** @throws WebhookError `delivery_missing` */
    showDelivery: (target: Target): Promise<Delivery> => findDelivery(target),

    /**
     * Makes a delivery due at once, with a new retry schedule and the same `webhook-id`, also after
     * a 2xx.
     * @throws WebhookError `delivery_missing`, `endpoint_deleted`, `endpoint_disabled`,
     *   `order_removed`, `delivery_busy`
     */
    async resend(target: Target): Promise<Delivery> {
      for (let saves = 0; saves < MAX_SAVES; saves += 1) {
        const delivery = await findDelivery(target)
        const endpoint = await endpoints.byId(delivery.endpointId)
        if (endpoint === null) {
          const message = `the endpoint ${delivery.endpointId} was deleted, and nothing is sent to it: create another one`
          throw new WebhookError('endpoint_deleted', message)
        }
        assertEnabled(endpoint)
        await assertVisible(delivery)
        const [saved] = await deliveries.save([{ ...delivery, ...pendingAt(dueAtOnce(delivery)) }])
        if (saved === undefined || saved === null) continue // The dispatcher changed it meanwhile.
        await touchEndpoint(endpoints, endpoint.id)
        return saved
      }
      const message = `the delivery ${target.id} is changing: an attempt may be in flight; try again`
      throw new WebhookError('delivery_busy', message)
    },

    /**
     * Makes the completed deliveries of an endpoint due again, under the same ids. Returns their
     * number.
     * @throws WebhookError `invalid_since`, `endpoint_missing`, `endpoint_disabled`
     */
    async replay(target: Target, { sinceMs, failedOnly = false }: ReplayOptions): Promise<number> {
      const nowMs = clock()
      if (sinceMs > nowMs) {
        throw new WebhookError('invalid_since', 'the start of a replay is in the future')
      }
      if (sinceMs < nowMs - retentionMs) {
        const message = `the start of a replay is too far back: deliveries are kept for ${retentionMs / DAY_MS} days (WEBHOOK_RETENTION_DAYS); choose a later instant`
        throw new WebhookError('invalid_since', message)
      }
      const endpoint = await findEndpoint(endpoints, target)
      assertEnabled(endpoint)
      const replayed = await deliveries.replay({
        endpointId: endpoint.id,
        sinceMs,
        failedOnly,
        nowMs,
      })
      await touchEndpoint(endpoints, endpoint.id)
      return replayed
    },
  }
}
