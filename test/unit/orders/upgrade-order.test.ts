import { describe, expect, it } from 'vitest'
import { ORDER_SCHEMA_VERSION, type Order } from '../../../src/orders/order.ts'
import { upgradeOrder } from '../../../src/orders/upgrade-order.ts'
import { changeOf, wholeOrder } from '../../support/orders/changes.ts'
import { confuseParser, QUOTE_TRACKING } from '../../support/orders/escaped-names.ts'

const OLDER = ORDER_SCHEMA_VERSION - 1
const complete = changeOf(wholeOrder).views[0]?.order as Order

const upgraded = (order: object, schemaVersion = OLDER) =>
  JSON.parse(
    Buffer.from(upgradeOrder(Buffer.from(JSON.stringify(order)), schemaVersion)).toString(),
  )

const at = (order: object, path: string[]): object =>
  path.reduce((value, key) => Reflect.get(value, key), order)

/** A copy of the order without the field at `path`. */
function without(order: object, path: string[]): object {
  const copy = structuredClone(order)
  Reflect.deleteProperty(at(copy, path.slice(0, -1)), path.at(-1) ?? '')
  return copy
}

describe('an order of an older schema version', () => {
  it('keeps its tracking keys, also where V8 confuses names with escapes', () => {
    confuseParser()
    const json = JSON.stringify({ ...complete, tracking: QUOTE_TRACKING })
    expect(Buffer.from(upgradeOrder(Buffer.from(json), OLDER)).toString()).toBe(json)
  })

  it.each([
    [['utm']],
    [['canceled_at']],
    [['customer', 'phone']],
    [['payment', 'decline_code']],
    [['payment', 'card', 'brand']],
    [['shipping_address', 'line3']],
    [['items', '0', 'order_bump_id']],
  ])('an order without %j gets null there and stays otherwise unchanged', (path) => {
    const older = without(complete, path)
    const shown = upgraded(older)
    expect(at(shown, path)).toBeNull()
    expect(without(shown, path)).toEqual(older)
  })

  it('gets no additional key of metadata or tracking', () => {
    const bare = { ...complete, metadata: {}, tracking: { src: 'bio' } }
    expect(upgraded(bare)).toEqual(bare)
  })

  it('keeps null values', () => {
    const bare = { ...complete, shipping_address: null, navigator: null, tracking: null }
    expect(upgraded(bare)).toEqual(bare)
  })

  it('keeps a tracking key of any name', () => {
    const tracking = JSON.parse('{"__proto__":"x","properties":"y"}')
    const shown = upgraded({ ...complete, tracking })
    expect(Object.entries(shown.tracking)).toEqual(Object.entries(tracking))
  })
})

it('an order of the current schema version is returned byte for byte', () => {
  const bytes = Buffer.from('{"anything": 1 }')
  expect(upgradeOrder(bytes, ORDER_SCHEMA_VERSION)).toBe(bytes)
})
