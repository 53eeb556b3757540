import type { TSchema } from '@sinclair/typebox'
import { parseJson } from '../lib/json.ts'
import { ORDER_SCHEMA_VERSION, Order } from './order.ts'

/**
 * A stored order as the public shape of today: one of the current shape as it is, an older one with `null`
 * for every field that came since. An added field thus needs no flag day.
 */
export function upgradeOrder(json: Uint8Array, schemaVersion: number): Uint8Array {
  if (schemaVersion === ORDER_SCHEMA_VERSION) return json
  const order = parseJson(Buffer.from(json).toString())
  return Buffer.from(JSON.stringify(upgrade(Order, order)))
}

function upgrade(schema: TSchema | undefined, value: unknown): unknown {
  // What has no schema was put in by hand: it stays as it is.
  if (schema === undefined || value === null || typeof value !== 'object') return value
  if (schema['anyOf']) return upgrade(schema['anyOf'][0], value) // An object, or null.
  if (Array.isArray(value)) return value.map((item) => upgrade(schema['items'], item))

  const properties: Record<string, TSchema> = schema['properties'] ?? {}
  const upgraded: Record<string, unknown> = { ...value }
  for (const [name, property] of Object.entries(properties)) {
    if (Object.hasOwn(upgraded, name)) upgraded[name] = upgrade(property, upgraded[name])
    else if (schema['required']?.includes(name)) upgraded[name] = null
  }
  return upgraded
}
