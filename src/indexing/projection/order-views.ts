import { toEpochMs, toPublicInstant, toPublicInstantOrNull } from '../../lib/instant.ts'
import { parseCustomerDocument } from '../../orders/customer-document.ts'
import type { Order } from '../../orders/order.ts'
import { projectNavigator } from './navigator.ts'
import { projectPayment } from './payment.ts'
import type { SourceItem, SourceOrder } from './source-order.ts'

/** The view of one account on an order; `updated_at` is null until the writer decides it. */
export interface View {
  accountId: string
  /** `created_at` in epoch milliseconds. */
  createdKey: number
  order: Order
}

export interface Projection {
  /** Empty for an order that is not visible. */
  views: View[]
  /** Whether the customer's document was neither a CPF nor a CNPJ, and dropped. */
  documentDropped: boolean
}

/**
 * Projects a source order that passed the schema to the public orders of its accounts. Pure.
 */
export function projectOrder(source: SourceOrder): Projection {
  const document = parseCustomerDocument(source.customer.document ?? '')
  const documentDropped = Boolean(source.customer.document) && document.document === null
  // The platform hides an order when every payment failed before it reached a bank.
  if (source.payments.every(({ status }) => status === 'FAILED')) {
    return { views: [], documentDropped }
  }

  const createdKey = toEpochMs(source.created_at)
  const owner: Order = {
    object: 'order',
    id: source.id,
    role: 'OWNER',
    status: source.status,
    currency: source.currency ?? null,
    amount_total: source.amount_total,
    amount_subtotal: source.amount_subtotal ?? null,
    amount_in_brl: source.amount_in_brl ?? null,
    created_at: toPublicInstant(source.created_at),
    paid_at: toPublicInstantOrNull(source.paid_at),
    canceled_at: toPublicInstantOrNull(source.canceled_at),
    // The writer replaces the first `"updated_at":null` of the JSON, so objects with keys of the
    // source, such as `metadata`, follow.
    updated_at: null,
    customer: {
      name: source.customer.name,
      email: source.customer.email,
      phone: source.customer.phone ?? null,
      ...document,
    },
    shipping_address: projectAddress(source.shipping_address),
    payment: projectPayment(source.payments),
    items: source.items.map(projectItem),
    offer: source.offer ? { id: source.offer.id, name: source.offer.name } : null,
    promocode: projectPromocode(source.promocode),
    utm: projectUtm(source.utm),
    tracking: projectTracking(source.tracking),
    navigator: projectNavigator(source.navigator),
    metadata: projectMetadata(source.metadata),
  }
  const coproducer: Order = { ...owner, role: 'COPRODUCER', tracking: null, navigator: null }

  const coproducers = new Set(source.coproducer_account_ids ?? [])
  coproducers.delete(source.owner_account_id)
  return {
    views: [
      { accountId: source.owner_account_id, createdKey, order: owner },
      ...[...coproducers].map((accountId) => ({ accountId, createdKey, order: coproducer })),
    ],
    documentDropped,
  }
}

type SourceField<T extends keyof SourceOrder> = SourceOrder[T]

function projectAddress(address: SourceField<'shipping_address'>): Order['shipping_address'] {
  if (!address) return null
  return {
    line1: address.line1,
    line2: address.line2,
    line3: address.line3 ?? null,
    neighborhood: address.neighborhood,
    city: address.city,
    state: address.state,
    country: address.country,
    postal_code: address.postal_code,
    full_name: address.full_name ?? null,
  }
}

function projectItem(item: SourceItem): Order['items'][number] {
  return {
    product_id: item.product_id,
    name: item.name,
    quantity: item.quantity,
    unit_price: item.unit_price,
    sub_total: item.unit_price * item.quantity,
    currency: item.currency ?? 'BRL',
    offer_id: item.offer_id ?? null,
    plan_id: item.plan_id ?? null,
    order_bump_id: item.order_bump_id ?? null,
  }
}

function projectPromocode(promocode: SourceField<'promocode'>): Order['promocode'] {
  if (!promocode) return null
  const { code, description = null, amount } = promocode
  return { code, description, amount }
}

function projectUtm(sourceUtm: SourceField<'utm'>): Order['utm'] {
  const utm = {
    utm_source: sourceUtm?.utm_source ?? null,
    utm_medium: sourceUtm?.utm_medium ?? null,
    utm_campaign: sourceUtm?.utm_campaign ?? null,
    utm_term: sourceUtm?.utm_term ?? null,
    utm_content: sourceUtm?.utm_content ?? null,
  }
  return Object.values(utm).every((value) => value === null) ? null : utm
}

function projectTracking(tracking: SourceField<'tracking'>): Order['tracking'] {
  return tracking && Object.keys(tracking).length > 0 ? tracking : null
}

/** Only the three keys of the API schema, and only those that the order has. */
function projectMetadata(sourceMetadata: SourceField<'metadata'>): Order['metadata'] {
  const { order_parent_id, origin, currency_rate } = sourceMetadata ?? {}
  return {
    ...(order_parent_id != null && { order_parent_id }),
    ...(origin != null && { origin }),
    ...(currency_rate != null && { currency_rate }),
  }
}
