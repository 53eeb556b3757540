import { parseJson } from '../lib/text/json.ts'
import type { Order } from './order.ts'

/** How each field of an object appears; a stored field that no table names is left out. */
type MaskTable<T> = { readonly [Field in keyof T]-?: (value: T[Field]) => T[Field] }

const keep = <T>(value: T): T => value
const toNull = () => null
// The fields of the address that are never null stay texts.
const toEmpty = () => ''

/** What a hidden part of a text appears as. */
const HIDDEN = '•••'
/** No telephone of a person is shorter, so two digits of it never identify one. */
const MIN_PHONE_DIGITS = 8
const HOST = /^[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)+$/u

const customerMasks: MaskTable<Order['customer']> = {
  name: initialsOf,
  email: maskEmail,
  phone: (phone) => (phone === null ? null : maskPhone(phone)),
  document: toNull,
  document_type: keep,
}

const addressMasks: MaskTable<NonNullable<Order['shipping_address']>> = {
  line1: toEmpty,
  line2: toEmpty,
  line3: toNull,
  neighborhood: toEmpty,
  city: keep,
  state: keep,
  country: keep,
  postal_code: toEmpty,
  full_name: toNull,
}

const cardMasks: MaskTable<NonNullable<Order['payment']['card']>> = { brand: keep, last4: keep }

const paymentMasks: MaskTable<Order['payment']> = {
  method: keep,
  status: keep,
  installments: keep,
  amount: keep,
  interest_amount: keep,
  discount_amount: keep,
  fee: keep,
  amount_refunded: keep,
  refunded_at: keep,
  decline_code: keep,
  decline_message: keep,
  card: (card) => orNull(cardMasks, card),
}

const itemMasks: MaskTable<Order['items'][number]> = {
  product_id: keep,
  name: keep,
  quantity: keep,
  unit_price: keep,
  sub_total: keep,
  currency: keep,
  offer_id: keep,
  plan_id: keep,
  order_bump_id: keep,
}

const offerMasks: MaskTable<NonNullable<Order['offer']>> = { id: keep, name: keep }

const promocodeMasks: MaskTable<NonNullable<Order['promocode']>> = {
  code: keep,
  description: keep,
  amount: keep,
}

const utmMasks: MaskTable<NonNullable<Order['utm']>> = {
  utm_source: keep,
  utm_medium: keep,
  utm_campaign: keep,
  utm_term: keep,
  utm_content: keep,
}

const metadataMasks: MaskTable<NonNullable<Order['metadata']>> = {
  order_parent_id: keep,
  origin: keep,
  currency_rate: keep,
}

const orderMasks: MaskTable<Order> = {
  object: keep,
  id: keep,
  role: keep,
  status: keep,
  currency: keep,
  amount_total: keep,
  amount_subtotal: keep,
  amount_in_brl: keep,
  created_at: keep,
  paid_at: keep,
  canceled_at: keep,
  updated_at: keep,
  customer: (customer) => applyMasks(customerMasks, customer),
  shipping_address: (address) => orNull(addressMasks, address),
  payment: (payment) => applyMasks(paymentMasks, payment),
  items: (items) => items.map((item) => applyMasks(itemMasks, item)),
  offer: (offer) => orNull(offerMasks, offer),
  promocode: (promocode) => orNull(promocodeMasks, promocode),
  utm: (utm) => orNull(utmMasks, utm),
  tracking: toNull,
  navigator: toNull,
  metadata: (metadata) => orNull(metadataMasks, metadata),
}

/**
 * Renders the stored order with this id without personal data.
 * @throws Error without a part of the order, when it is damaged
 */
export function maskOrder(id: string, json: Uint8Array): Uint8Array {
  try {
    const order = parseJson(Buffer.from(json).toString()) as Order
    return Buffer.from(JSON.stringify(applyMasks(orderMasks, order)))
  } catch {
    // The error of the parser quotes the text, and the log would have it.
    throw new Error(`the stored order ${id} is damaged and cannot be masked: run "index check"`)
  }
}

function applyMasks<T extends object>(masks: MaskTable<T>, value: T): T {
  const masked: Partial<T> = {}
  for (const field in masks) masked[field] = masks[field](value[field])
  return masked as T
}

// A changed document may lack the object.
function orNull<T extends object>(masks: MaskTable<T>, value: T | null | undefined): T | null {
  return value == null ? null : applyMasks(masks, value)
}

/** `Ana de Souza` → `A. S.`: of the first word and of the last. */
function initialsOf(name: string): string {
  const initials = name.split(/\s+/).flatMap((word) => /\p{L}\p{M}*/u.exec(word)?.[0] ?? [])
  const outer = initials.length > 1 ? [initials.at(0), initials.at(-1)] : initials
  return outer.map((initial) => `${initial?.toLocaleUpperCase('pt-BR')}.`).join(' ')
}

/** `maria@exemplo.com.br` → `m•••@exemplo.com.br`; nothing of a text that is no address. */
function maskEmail(email: string): string {
  const at = email.lastIndexOf('@')
  const domain = email.slice(at + 1)
  if (at < 1 || !HOST.test(domain)) return HIDDEN
  const [first] = email
  return `${first}${HIDDEN}@${domain}`
}

/** `+5511999990042` → `•••42`. */
function maskPhone(phone: string): string {
  const digits = phone.replace(/\D/g, '')
  return digits.length < MIN_PHONE_DIGITS ? HIDDEN : HIDDEN + digits.slice(-2)
}
