/**
 * The content of a column. `cents`: an integer of cents. `rate`: a number with decimals. `items`:
 * the products of the order. `json`: an object without fixed keys.
 */
export type Kind = 'text' | 'cents' | 'integer' | 'instant' | 'rate' | 'items' | 'json'

/** Columns by the path of their field, in order. Add new fields of the order here. */
export type Columns = Readonly<Record<string, Kind>>

/** Every field of an order except `object`, which is constant. */
export const orderColumns: Columns = {
  id: 'text',
  role: 'text',
  status: 'text',
  currency: 'text',
  amount_total: 'cents',
  amount_subtotal: 'cents',
  amount_in_brl: 'cents',
  created_at: 'instant',
  paid_at: 'instant',
  canceled_at: 'instant',
  updated_at: 'instant',
  'customer.name': 'text',
  'customer.email': 'text',
  'customer.phone': 'text',
  'customer.document': 'text',
  'customer.document_type': 'text',
  'shipping_address.line1': 'text',
  'shipping_address.line2': 'text',
  'shipping_address.line3': 'text',
  'shipping_address.neighborhood': 'text',
  'shipping_address.city': 'text',
  'shipping_address.state': 'text',
  'shipping_address.country': 'text',
  'shipping_address.postal_code': 'text',
  'shipping_address.full_name': 'text',
  'payment.method': 'text',
  'payment.status': 'text',
  'payment.installments': 'integer',
  'payment.amount': 'cents',
  'payment.interest_amount': 'cents',
  'payment.discount_amount': 'cents',
  'payment.fee': 'cents',
  'payment.amount_refunded': 'cents',
  'payment.refunded_at': 'instant',
  'payment.decline_code': 'text',
  'payment.decline_message': 'text',
  'payment.card.brand': 'text',
  'payment.card.last4': 'text',
  items: 'items',
  'offer.id': 'text',
  'offer.name': 'text',
  'promocode.code': 'text',
  'promocode.description': 'text',
  'promocode.amount': 'cents',
  'utm.utm_source': 'text',
  'utm.utm_medium': 'text',
  'utm.utm_campaign': 'text',
  'utm.utm_term': 'text',
  'utm.utm_content': 'text',
  tracking: 'json',
  'navigator.user_agent': 'text',
  'navigator.referer': 'text',
  'navigator.device': 'text',
  'navigator.browser': 'text',
  'navigator.origin': 'text',
  'metadata.order_parent_id': 'text',
  'metadata.origin': 'text',
  'metadata.currency_rate': 'rate',
}

/** The columns of a product, in rows of products. */
export const itemColumns: Columns = {
  product_id: 'text',
  name: 'text',
  quantity: 'integer',
  unit_price: 'cents',
  sub_total: 'cents',
  currency: 'text',
  offer_id: 'text',
  plan_id: 'text',
  order_bump_id: 'text',
}
