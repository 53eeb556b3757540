import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { Order } from '../../../src/orders/order.ts'

const file = new URL('../../../openapi/recipes/airbyte/pedidos.yaml', import.meta.url)
const [stream] = parse(readFileSync(file, 'utf8')).streams

it('the stream of the recipe for Airbyte has every field of the order', () => {
  const fields = Object.keys(Order.properties).filter((name) => name !== 'object')
  const { properties } = stream.schema_loader.schema
  expect(Object.keys(properties), 'change openapi/recipes/airbyte/pedidos.yaml').toEqual(fields)
})
