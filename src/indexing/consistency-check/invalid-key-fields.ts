import { isDeepStrictEqual } from 'node:util'
import { parseInstant } from '../../lib/instant.ts'
import type { FilterColumn } from '../../orders/filters/filter-generations.ts'
import { NULL_INSTANT_KEY } from '../../orders/order-store.ts'
import { differingFilterColumns } from '../writer/order-document.ts'
import type { InspectedDocument, KeyField } from './index-inspection.ts'

const isText = (value: unknown) => typeof value === 'string' && value !== ''
const isInteger = (value: unknown) => Number.isSafeInteger(value)

const keyFieldChecks = {
  account_id: isText,
  id: isText,
  shape: isInteger,
  status: isText,
  payment_method: isText,
  created_key: isInteger,
  updated_key: isInteger,
  written_key: isInteger,
} as const satisfies Record<Exclude<KeyField, FilterColumn>, (value: unknown) => boolean>

/**
 * The key fields of a document that are missing, of a wrong type, or contradict its content. Pure.
 */
export function invalidKeyFields({ address, keys, order }: InspectedDocument): KeyField[] {
  const payment = propertyOf(order, 'payment')
  const expected: Partial<Record<KeyField, unknown>> = {
    account_id: address.accountId,
    id: propertyOf(order, 'id') === address.orderId ? address.orderId : undefined,
    status: propertyOf(order, 'status'),
    payment_method: propertyOf(payment, 'method'),
    created_key: keyOf(propertyOf(order, 'created_at')),
    updated_key: updatedKeyOf(propertyOf(order, 'updated_at')),
  }
  const fields = Object.keys(keyFieldChecks) as (keyof typeof keyFieldChecks)[]
  const invalid = fields.filter((field) => {
    const matches = !(field in expected) || isDeepStrictEqual(expected[field], keys[field])
    return !keyFieldChecks[field](keys[field]) || !matches
  })
  return [...invalid, ...differingFilterColumns(Object(order), keys)]
}

function propertyOf(value: unknown, name: string): unknown {
  const { [name]: found } = Object(value) as Record<string, unknown>
  return found
}

function updatedKeyOf(instant: unknown): number | undefined {
  return instant === null ? NULL_INSTANT_KEY : keyOf(instant)
}

function keyOf(instant: unknown): number | undefined {
  const parsed = typeof instant === 'string' ? parseInstant(instant) : 'malformed'
  return typeof parsed === 'string' ? undefined : parsed.floorMs
}
