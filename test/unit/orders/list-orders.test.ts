import { describe, expect, it } from 'vitest'
import { listOrders } from '../../../src/orders/list-orders.ts'
import { parseListParams, type RawQuery } from '../../../src/orders/list-params.ts'
import { createArrayOrderStore } from './array-order-store.ts'
import { codec } from './cursors.ts'

function fiveOrders() {
  const store = createArrayOrderStore()
  store.write('ord_1', 'ord_2', 'ord_3', 'ord_4', 'ord_5')
  // The store of these tests renders no JSON; any will do.
  const findPage: typeof store.findPage = async (query) => {
    const rows = await store.findPage(query)
    return rows.map((row) => ({ ...row, json: Buffer.from(JSON.stringify(row.id)) }))
  }
  return { ...store, findPage }
}

async function page(query: RawQuery, accountId = 'acc_1') {
  const services = { store: fiveOrders(), cursors: codec }
  return JSON.parse((await listOrders(services, accountId, parseListParams(query))).toString())
}

describe('listOrders', () => {
  it('gives a page and the cursor of the next', async () => {
    expect(await page({ limit: '2' })).toEqual({
      object: 'list',
      data: ['ord_5', 'ord_4'],
      has_more: true,
      next_cursor: expect.stringMatching(/^[A-Za-z0-9_-]+$/),
    })
  })

  it('goes on from a cursor, also with another limit', async () => {
    const { next_cursor } = await page({ limit: '2' })
    expect((await page({ limit: '3', cursor: next_cursor })).data).toEqual([
      ...['ord_3', 'ord_2', 'ord_1'],
    ])
  })

  it('gives no cursor with the last page', async () => {
    expect(await page({ limit: '5' })).toMatchObject({ has_more: false, next_cursor: null })
  })

  it.each<[string, RawQuery, string]>([
    ['another account', {}, 'acc_2'],
    ['another sort', { sort: 'updated_at_asc' }, 'acc_1'],
    ['other filters', { status: 'PAID' }, 'acc_1'],
  ])('refuses a cursor with %s', async (_name, query, accountId) => {
    const { next_cursor } = await page({ limit: '2' })
    await expect(page({ ...query, cursor: next_cursor }, accountId)).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'cursor',
    })
  })
})
