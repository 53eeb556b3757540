import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { renderList } from '../../../src/orders/list-envelope.ts'

const row = (json: string) => ({ key: 0, id: 'ord_1', json: Buffer.from(json) })
const parsed = (rows: ReturnType<typeof row>[], cursor: string | null) =>
  JSON.parse(renderList(rows, cursor).toString())

describe('renderList', () => {
  it('renders an empty list', () => {
    expect(renderList([], null).toString()).toBe(
      '{"object":"list","data":[],"has_more":false,"next_cursor":null}',
    )
  })

  it('renders the last page', () => {
    expect(parsed([row('{"id":"ord_1"}')], null)).toEqual({
      object: 'list',
      data: [{ id: 'ord_1' }],
      has_more: false,
      next_cursor: null,
    })
  })

  it('says has_more and the cursor when a page follows', () => {
    expect(parsed([row('1')], 'abc_-')).toMatchObject({ has_more: true, next_cursor: 'abc_-' })
  })

  it('has just the four fields of the contract', () => {
    expect(Object.keys(parsed([row('1')], 'abc'))).toEqual([
      'object',
      'data',
      'has_more',
      'next_cursor',
    ])
  })

  it('passes the bytes of each order through, in their order', () => {
    const odd = ['{ "name" : "Zoë 😀" }', '{"a":1.0}', '{"a":1e3}']
    expect(renderList(odd.map(row), null).toString()).toContain(`[${odd.join(',')}]`)
  })

  it('gives the orders back', () => {
    fc.assert(
      fc.property(fc.array(fc.json()), fc.option(fc.string()), (orders, cursor) => {
        expect(parsed(orders.map(row), cursor)).toEqual({
          object: 'list',
          data: orders.map((json) => JSON.parse(json)),
          has_more: cursor !== null,
          next_cursor: cursor,
        })
      }),
    )
  })
})
