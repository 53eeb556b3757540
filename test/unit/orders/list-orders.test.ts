import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { unbounded } from '../../../src/lib/request-scope.ts'
import { parseListParams, type RawQuery } from '../../../src/orders/list-params.ts'
import type { PageQuery } from '../../../src/orders/order-store.ts'
import { listOrders, renderList } from '../../../src/orders/paging.ts'
import { codec } from '../../support/orders/cursors.ts'
import { createArrayOrderStore } from './array-order-store.ts'

function fiveOrders() {
  const store = createArrayOrderStore()
  store.write('ord_1', 'ord_2', 'ord_3', 'ord_4', 'ord_5')
  // The array store renders no JSON, so each row is its id.
  const findPage: typeof store.findPage = async (query) => {
    const rows = await store.findPage(query)
    return rows.map((row) => ({ ...row, json: Buffer.from(JSON.stringify(row.id)) }))
  }
  return { ...store, findPage }
}

function listPage(query: RawQuery, accountId = 'acc_1', store = fiveOrders()) {
  return listOrders({ store, cursors: codec }, accountId, parseListParams(query))
}

async function page(query: RawQuery, accountId?: string) {
  return JSON.parse((await listPage(query, accountId)).json.toString())
}

describe('listOrders', () => {
  it('returns a page and the cursor of the next', async () => {
    expect(await page({ limit: '2' })).toEqual({
      object: 'list',
      data: ['ord_5', 'ord_4'],
      has_more: true,
      next_cursor: expect.stringMatching(/^[A-Za-z0-9_-]+$/),
    })
  })

  it('keeps neither the rows nor their bytes once they are rendered', async () => {
    const found: unknown[][] = []
    const store = fiveOrders()
    const { findPage } = store
    store.findPage = async (query) => {
      const rows = await findPage(query)
      found.push(rows)
      return rows
    }
    const release = vi.fn()
    const params = parseListParams({ limit: '2' })
    const { json } = await listOrders({ store, cursors: codec }, 'acc_1', params, {
      ...unbounded,
      release,
    })
    expect(JSON.parse(json.toString()).data).toEqual(['ord_5', 'ord_4'])
    expect(found).toEqual([[]])
    expect(release).toHaveBeenCalledOnce()
  })

  it('continues from a cursor, also with another limit', async () => {
    const { next_cursor } = await page({ limit: '2' })
    expect((await page({ limit: '3', cursor: next_cursor })).data).toEqual([
      ...['ord_3', 'ord_2', 'ord_1'],
    ])
  })

  it('returns no cursor with the last page', async () => {
    expect(await page({ limit: '5' })).toMatchObject({ has_more: false, next_cursor: null })
  })

  it.each<[string, RawQuery, string]>([
    ['another account', {}, 'acc_2'],
    ['another sort', { sort: 'updated_at_asc' }, 'acc_1'],
    ['other filters', { status: 'PAID' }, 'acc_1'],
  ])('rejects a cursor with %s', async (_name, query, accountId) => {
    const { next_cursor } = await page({ limit: '2' })
    await expect(page({ ...query, cursor: next_cursor }, accountId)).rejects.toMatchObject({
      name: 'InvalidParamError',
      param: 'cursor',
    })
  })
})

describe('the digest of a page', () => {
  const version = async (query: RawQuery, store = fiveOrders()) =>
    (await listPage(query, 'acc_1', store)).digest

  it('is the same for the same orders', async () => {
    expect(await version({ limit: '2' })).toBe(await version({ limit: '2' }))
  })

  it('changes with the orders, and with the cursor alone', async () => {
    const of = await Promise.all(
      [{ limit: '2' }, { limit: '3' }, { limit: '5' }, { limit: '2', status: 'PAID' }].map(
        (query) => version(query),
      ),
    )
    expect(new Set(of).size).toBe(of.length)
  })

  it('changes with the tag of an order alone', async () => {
    const store = fiveOrders()
    const rewritten = {
      ...store,
      async findPage(query: PageQuery) {
        return (await store.findPage(query)).map((row) => ({ ...row, tag: `${row.tag}-new` }))
      },
    }
    expect(await version({}, rewritten)).not.toBe(await version({}, store))
  })
})

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

  it('renders has_more and the cursor when a page follows', () => {
    expect(parsed([row('1')], 'abc_-')).toMatchObject({ has_more: true, next_cursor: 'abc_-' })
  })

  it('renders exactly four fields', () => {
    expect(Object.keys(parsed([row('1')], 'abc'))).toEqual([
      'object',
      'data',
      'has_more',
      'next_cursor',
    ])
  })

  it('keeps the bytes and the order of the rows', () => {
    const odd = ['{ "name" : "Zoë 😀" }', '{"a":1.0}', '{"a":1e3}']
    expect(renderList(odd.map(row), null).toString()).toContain(`[${odd.join(',')}]`)
  })

  it('renders JSON that parses to the same orders', () => {
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
