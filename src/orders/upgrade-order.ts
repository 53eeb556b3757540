import type { TSchema } from '@sinclair/typebox'
import { parseJson } from '../lib/text/json.ts'
import { ORDER_SCHEMA_VERSION, Order } from './order.ts'

/**
 * Converts a stored order to the current schema version, with `null` for every field added since.
 * A new field thus needs no migration of stored orders.
 */
export function upgradeOrder(json: Uint8Array, schemaVersion: number): Uint8Array {
  if (schemaVersion === ORDER_SCHEMA_VERSION) return json
  const order = parseJson(Buffer.from(json).toString())
  return Buffer.from(JSON.stringify(upgrade(Order, order)))
}

function upgrade(schema: TSchema | undefined, value: unknown): unknown {
  // A value without a schema was added by hand; keep it.
  if (schema === undefined || value === null || typeof value !== 'object') return value
  if (schema['anyOf']) return upgrade(schema['anyOf'][0], value) // Nullable object.
  if (Array.isArray(value)) return value.map((item) => upgrade(schema['items'], item))

  const properties: Record<string, TSchema> = schema['properties'] ?? {}
  const upgraded: Record<string, unknown> = { ...value }
  for (const [name, property] of Object.entries(properties)) {
    if (Object.hasOwn(upgraded, name)) upgraded[name] = upgrade(property, upgraded[name])
    else if (schema['required']?.includes(name)) upgraded[name] = null
  }
  return upgraded
}
