import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { itemHeaders, orderHeaders } from '../../../src/orders-cli/export/formats/headers-pt.ts'
import { itemColumns, type Kind, orderColumns } from '../../../src/orders-cli/order-columns.ts'

interface Schema {
  $ref?: string
  anyOf?: Schema[]
  type?: string | string[]
  format?: string
  properties?: Record<string, Schema>
  additionalProperties?: unknown
  description?: string
}

const file = new URL('../../../openapi/openapi.json', import.meta.url)
const { schemas } = JSON.parse(readFileSync(file, 'utf8')).components as {
  schemas: Record<string, Schema> & { Order: Schema; Item: Schema }
}

/** The leaf fields of an object by path, each with the kind of its column. */
function leaves(schema: Schema, path = ''): [string, Kind][] {
  const { $ref, anyOf, properties } = schema
  if ($ref !== undefined) return leaves(schemas[$ref.split('/').at(-1) ?? ''] ?? {}, path)
  if (anyOf !== undefined) return leaves(anyOf[0] ?? {}, path)
  if (properties === undefined) return [[path, kindOf(schema)]]
  return Object.entries(properties).flatMap(([name, inner]) =>
    leaves(inner, path === '' ? name : `${path}.${name}`),
  )
}

function kindOf({ type = [], format, description = '' }: Schema): Kind {
  const types = [type].flat()
  if (types.includes('array')) return 'items'
  if (types.includes('object')) return 'json'
  if (types.includes('number')) return 'rate'
  if (types.includes('integer')) return /centavos/.test(description) ? 'cents' : 'integer'
  return format === 'date-time' ? 'instant' : 'text'
}

const COLUMNS = 'change the columns in src/orders-cli/order-columns.ts'
const HEADERS = 'change the headers in src/orders-cli/export/formats/headers-pt.ts'

it('every field of the order has a column of its kind, in the order of openapi.json', () => {
  const fields = leaves(schemas.Order).filter(([path]) => path !== 'object')
  expect(Object.entries(orderColumns), COLUMNS).toEqual(fields)
})

it('every field of a product has a column of its kind', () => {
  expect(Object.entries(itemColumns), COLUMNS).toEqual(leaves(schemas.Item))
})

it('every column has a Portuguese header of its own', () => {
  expect(Object.keys(orderHeaders), HEADERS).toEqual(Object.keys(orderColumns))
  expect(Object.keys(itemHeaders), HEADERS).toEqual(Object.keys(itemColumns))
  const headers = [...Object.values(orderHeaders), ...Object.values(itemHeaders)]
  expect(new Set(headers).size).toBe(headers.length)
})
