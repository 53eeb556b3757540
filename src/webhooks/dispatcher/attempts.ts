import { hash } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { Unavailable } from '../../lib/errors/unavailable.ts'
import type { FoundView, OrderStore, UnreadView } from '../../orders/order-store.ts'
import type { Attempt, StoredDelivery } from '../deliveries/delivery.ts'
import { renderEventBody } from '../deliveries/event-body.ts'
import type { Endpoint } from '../endpoints/endpoint.ts'
import { TEST_EVENT } from '../events/event-types.ts'
import type { Sender } from '../sending/sender.ts'
import type { SignatureHeaders, Signer } from '../sending/signature.ts'

/** Reads current views: never older than the latest event. Calls throw Unavailable. */
export type OrderViews = Pick<OrderStore, 'getMany'>

/** What became of a delivery that was taken from its lane. */
export type AttemptResult =
  | { kind: 'sent'; attempt: Attempt; retryAfterMs: number | null }
  /** No request, because the order could not be read. */
  | { kind: 'unread'; attempt: Attempt; isMissing: boolean }
  /** The account has no view of the order. */
  | { kind: 'no-view' }
  /** The right to send was lost, or the order was removed. */
  | { kind: 'not-sent' }

export interface AttemptOptions {
  orders: OrderViews
  sender: Pick<Sender, 'send'>
  sign: Signer
  /** Epoch milliseconds. */
  clock: Clock
  /** Checked right before each request. */
  maySend(): boolean
  /** For the user agent. */
  version: string
}

/** Sends one delivery to its endpoint. */
export type SendDelivery = (
  delivery: StoredDelivery,
  endpoint: Endpoint,
  view: FoundView,
) => Promise<AttemptResult>

/** Whether the account must still have a view of the event's order. */
function needsView({ event: { type } }: StoredDelivery): boolean {
  return type !== 'order.removed' && type !== TEST_EVENT
}

/** Reads the views that the deliveries need, `null` for others. @throws Unavailable */
export async function readViews(
  orders: OrderViews,
  deliveries: readonly StoredDelivery[],
): Promise<FoundView[]> {
  const keys = deliveries.flatMap((delivery) => {
    const { accountId, event } = delivery
    return needsView(delivery) && event.orderId !== null
      ? [{ accountId, orderId: event.orderId }]
      : []
  })
  if (keys.length === 0) return deliveries.map(() => null)
  const views = (await orders.getMany(keys)).values()
  return deliveries.map((delivery) => (needsView(delivery) ? (views.next().value ?? null) : null))
}

/** Creates {@link SendDelivery}: renders, signs and sends, and never throws. */
export function createSendDelivery(options: AttemptOptions): SendDelivery {
  const { sender, sign, clock, maySend } = options
  const headers = {
    'content-type': 'application/json',
    'user-agent': `public-orders-api-webhooks/${options.version}`,
  }

  return async (delivery, endpoint, view) => {
    if (view === null && needsView(delivery)) return { kind: 'no-view' }
    const { event } = delivery
    const isUnread = view === 'missing' || view === 'unreadable'
    const data = isUnread || endpoint.payload === 'thin' ? null : view
    const isDamaged = data instanceof Unavailable
    const body = renderEventBody(event, isDamaged ? null : data)
    const at = clock()
    const sent = { at, bodySha256: hash('sha256', body, 'hex'), bodyBytes: body.length }
    if (isUnread) {
      const attempt = unsentAttempt(sent, UNREAD[view])
      return { kind: 'unread', attempt, isMissing: view === 'missing' }
    }
    if (isDamaged) return failedUnsent(sent, DAMAGED)
    let signature: SignatureHeaders
    try {
      signature = sign(endpoint, { id: event.id, sentAtMs: at, body })
    } catch {
      return failedUnsent(sent, UNSIGNED)
    }
    if (!maySend()) return { kind: 'not-sent' }
    const request = { url: endpoint.url, headers: { ...headers, ...signature }, body }
    const { status, error, durationMs, retryAfterMs, excerpt } = await sender.send(request)
    return { kind: 'sent', attempt: { ...sent, status, error, durationMs, excerpt }, retryAfterMs }
  }
}

/** The operator removed an entry of `WEBHOOK_SECRETS`. */
const UNSIGNED = 'not sent: the signing secret of this endpoint is not configured'
/** The other orders of the batch are sent. */
const DAMAGED = 'not sent: the stored order is damaged'

const UNREAD: Record<UnreadView, string> = {
  missing: 'not sent: the stored order is missing',
  unreadable: 'not sent: the stored order could not be read',
}

/** Whether the order could not be read, so that no request was sent. */
export function isUnread({ error }: Pick<Attempt, 'error'>): boolean {
  return error === UNREAD.missing || error === UNREAD.unreadable
}

type UnsentBody = Pick<Attempt, 'at' | 'bodySha256' | 'bodyBytes'>

/** The operator can correct it, so retries follow. */
function failedUnsent(body: UnsentBody, error: string): AttemptResult {
  return { kind: 'sent', attempt: unsentAttempt(body, error), retryAfterMs: null }
}

function unsentAttempt(body: UnsentBody, error: string): Attempt {
  return { ...body, status: null, error, durationMs: 0, excerpt: null }
}
