import type { ViewKey } from '../writing/order-index.ts'

export const faultKinds = ['missing', 'extra', 'different', 'without_key_field', 'damaged'] as const
export type FaultKind = (typeof faultKinds)[number]

/** Something that is wrong with the document of an account and order. Holds no value of any order. */
export interface Fault extends ViewKey {
  kind: FaultKind
  /** In words for an operator. */
  what: string
  /** What differs in the order, as JSON pointers, or the key fields that are wrong. */
  fields: readonly string[]
}
