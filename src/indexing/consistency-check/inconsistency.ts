import type { ViewKey } from '../../orders/order-store.ts'
import type { DamagedRecord } from './index-inspection.ts'

export const inconsistencyKinds = [
  'missing',
  'extra',
  'different',
  'without_key_field',
  'damaged',
] as const
export type InconsistencyKind = (typeof inconsistencyKinds)[number]

/**
 * A fault in the document of an account and order, or in the version record of an order, whose
 * `accountId` is empty. Holds no value of any order.
 */
export interface Inconsistency extends ViewKey {
  kind: InconsistencyKind
  /** In words for an operator. */
  what: string
  /** What differs in the order, as JSON pointers, or the key fields that are wrong. */
  fields: readonly string[]
}

/** The fault of a damaged version record. */
export function damagedRecord({ orderId, damage }: DamagedRecord): Inconsistency {
  return { kind: 'damaged', accountId: '', orderId, what: damage, fields: [] }
}
