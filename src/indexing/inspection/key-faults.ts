import { parseInstant } from '../../lib/instant.ts'
import { NULL_UPDATED_KEY } from '../../orders/order-store.ts'
import type { FoundDocument, KeyField } from './index-inspection.ts'

const isText = (value: unknown) => typeof value === 'string' && value !== ''
const isInteger = (value: unknown) => Number.isSafeInteger(value)

const forms = {
  account_id: isText,
  id: isText,
  shape: isInteger,
  status: isText,
  payment_method: isText,
  created_key: isInteger,
  updated_key: isInteger,
  written_key: isInteger,
} as const satisfies Record<KeyField, (value: unknown) => boolean>

/** The key fields of a document that are missing, of a wrong type, or contradict what is in it. Pure. */
export function keyFaults({ address, keys, order }: FoundDocument): KeyField[] {
  const payment = inside(order, 'payment')
  const told: Partial<Record<KeyField, unknown>> = {
    account_id: address.accountId,
    id: inside(order, 'id') === address.orderId ? address.orderId : undefined,
    status: inside(order, 'status'),
    payment_method: inside(payment, 'method'),
    created_key: keyOf(inside(order, 'created_at')),
    updated_key: updatedKeyOf(inside(order, 'updated_at')),
  }
  const fields = Object.keys(forms) as KeyField[]
  return fields.filter((field) => {
    const agrees = !(field in told) || told[field] === keys[field]
    return !forms[field](keys[field]) || !agrees
  })
}

function inside(value: unknown, name: string): unknown {
  const { [name]: found } = Object(value) as Record<string, unknown>
  return found
}

function updatedKeyOf(instant: unknown): number | undefined {
  return instant === null ? NULL_UPDATED_KEY : keyOf(instant)
}

function keyOf(instant: unknown): number | undefined {
  const parsed = typeof instant === 'string' ? parseInstant(instant) : 'malformed'
  return typeof parsed === 'string' ? undefined : parsed.floorMs
}
