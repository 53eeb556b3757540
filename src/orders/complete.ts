import type { TSchema } from '@sinclair/typebox'
import { parseJson } from '../lib/json.ts'
import { ORDER_SHAPE, Order } from './order.ts'

/**
 * A stored order as the public shape of today: one of the current shape as it is, an older one with `null`
 * for every field that came since. An added field thus needs no flag day.
 */
export function completeOrder(json: Uint8Array, shape: number): Uint8Array {
  if (shape === ORDER_SHAPE) return json
  const order = parseJson(Buffer.from(json).toString())
  return Buffer.from(JSON.stringify(complete(Order, order)))
}

function complete(schema: TSchema | undefined, value: unknown): unknown {
  // What has no schema was put in by hand: it stays as it is.
  if (schema === undefined || value === null || typeof value !== 'object') return value
  if (schema['anyOf']) return complete(schema['anyOf'][0], value) // An object, or null.
  if (Array.isArray(value)) return value.map((item) => complete(schema['items'], item))

  const properties: Record<string, TSchema> = schema['properties'] ?? {}
  const completed: Record<string, unknown> = { ...value }
  for (const [name, property] of Object.entries(properties)) {
    if (Object.hasOwn(completed, name)) completed[name] = complete(property, completed[name])
    else if (schema['required']?.includes(name)) completed[name] = null
  }
  return completed
}
