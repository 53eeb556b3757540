import type { OrderDocument } from '../../indexing/writing/document.ts'
import { Unavailable } from '../../lib/unavailable.ts'
import { completeOrder } from '../../orders/complete.ts'
import type { Order } from '../../orders/order.ts'
import { fitsFrame, framed } from './cut.ts'

/** The id of the document of an order and account. */
export function documentId({ accountId, orderId }: { accountId: string; orderId: string }): string {
  return `${accountId}:${orderId}`
}

/** A document as it is sent: the order goes in byte for byte. */
export function renderSource(document: OrderDocument): string {
  const keys = {
    account_id: document.accountId,
    id: document.id,
    shape: document.shape,
    status: document.status,
    payment_method: document.paymentMethod,
    created_key: document.createdKey,
    updated_key: document.updatedKey,
    written_key: document.writtenKey,
  }
  return framed(JSON.stringify(keys), document.json)
}

/** What of a stored document is read again. */
export interface OrderSource {
  account_id: string
  id: string
  shape: number
  updated_key: number
  order: object
}

/** @throws Unavailable when it is not a document of an order */
export function orderSource(source: unknown): OrderSource {
  const { account_id, id, shape, updated_key, order } = Object(source) as Partial<OrderSource>
  if (
    typeof account_id === 'string' &&
    typeof id === 'string' &&
    typeof shape === 'number' &&
    typeof updated_key === 'number' &&
    typeof order === 'object' &&
    order !== null
  ) {
    return { account_id, id, shape, updated_key, order }
  }
  throw new Unavailable('OpenSearch answered with a document that is no order')
}

/**
 * A stored document as it is written today: what is searched is taken from its order again. One that is not as
 * it was written stays as it is, or a new frame would make the damage good.
 */
export function renderAnew(source: unknown): string {
  const stored = orderSource(source)
  if (!fitsFrame(Object(source))) return JSON.stringify(source)
  const { created_key, written_key } = Object(source) as Record<string, unknown>
  const { status, payment } = stored.order as Pick<Order, 'status' | 'payment'>
  return renderSource({
    accountId: stored.account_id,
    id: stored.id,
    shape: stored.shape,
    status,
    paymentMethod: payment.method,
    createdKey: created_key as number,
    updatedKey: stored.updated_key,
    writtenKey: written_key as number,
    json: JSON.stringify(stored.order),
  })
}

/** The order of a document, in the shape it was written in. */
export function renderStored({ order }: OrderSource): Buffer {
  return Buffer.from(JSON.stringify(order))
}

/**
 * The order of a document as it is shown.
 * @throws Unavailable also when it is not what was written: an order that was damaged is worse than none
 */
export function renderShown(source: unknown): Uint8Array {
  const stored = orderSource(source)
  if (!fitsFrame(Object(source))) {
    const id = documentId({ accountId: stored.account_id, orderId: stored.id })
    throw new Unavailable(
      `the document ${id} is not as it was written; whoever changed it by hand has to take its field "frame" away too`,
    )
  }
  return completeOrder(renderStored(stored), stored.shape)
}
