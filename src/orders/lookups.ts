import { parseInstant } from '../lib/instant.ts'
import { parseCustomerDocument } from './customer-document.ts'
import type { Order } from './order.ts'
import { productIdPattern } from './schema/items.ts'

/** The fields that a filter compares with exact texts; an order has any number of each. */
export const lookupColumns = ['customer_email', 'customer_document', 'product_ids'] as const
export type LookupColumn = (typeof lookupColumns)[number]

/** The texts of an order in each field, in canonical form and without duplicates. */
export type Lookups = Readonly<Record<LookupColumn, readonly string[]>>

/** The maximum length of a text in UTF-16 code units. OpenSearch rejects terms above 32 KB. */
export const MAX_LOOKUP_LENGTH = 320

/** Neither a control character nor half of a surrogate pair, which the stores cannot keep. */
function isSearchable(text: string): boolean {
  return text.length <= MAX_LOOKUP_LENGTH && text.isWellFormed() && !/\p{Cc}/u.test(text)
}

/** An e-mail address in the form that is compared; `null` for any other text. */
export function canonicalEmail(text: string): string | null {
  return isSearchable(text) && /^\S+@\S+$/.test(text) ? text.toLowerCase() : null
}

/** A CPF or CNPJ without punctuation, line breaks included; `null` for any other text. */
export function canonicalDocument(text: string): string | null {
  return text.length <= MAX_LOOKUP_LENGTH ? parseCustomerDocument(text).document : null
}

const PRODUCT_ID = new RegExp(productIdPattern)

/** The id of a product as it is; `null` for any other text. */
export function canonicalProductId(text: string): string | null {
  return isSearchable(text) && PRODUCT_ID.test(text) ? text : null
}

/** The texts by which filters find an order. A damaged order may lack any field. */
export function lookupsOf({ customer, items }: Partial<Order>): Lookups {
  const one = (text: string | null | undefined, canonical: (text: string) => string | null) => {
    const value = typeof text === 'string' ? canonical(text) : null
    return value === null ? [] : [value]
  }
  const listed = Array.isArray(items) ? items : []
  const productIds = listed.flatMap((item) => one(item?.product_id, canonicalProductId))
  return {
    // Platforms store what a buyer typed, spaces included.
    customer_email: one(customer?.email, (email) => canonicalEmail(email.trim())),
    customer_document: one(customer?.document, canonicalDocument),
    product_ids: [...new Set(productIds)],
  }
}

/** The instant of the payment in epoch milliseconds; `null` for an unpaid order. */
export function paidAtOf({ paid_at }: Partial<Order>): number | null {
  const parsed = typeof paid_at === 'string' ? parseInstant(paid_at) : 'malformed'
  return typeof parsed === 'string' ? null : parsed.floorMs
}
