import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApp, type TestApp } from '../support/http/test-app.ts'
import { sourceOrder, sourcePayment } from '../support/orders/source-order.ts'
import { walk } from '../support/simulation/walk.ts'

let app: TestApp
let key: string

const at = (minute: number) => `2026-03-01T12:${String(minute).padStart(2, '0')}:00.000Z`

/**
 * ord_a … ord_f are created a minute apart and changed in the reverse order. ord_f has no
 * `updated_at` yet.
 */
const orders = [
  { id: 'ord_a', status: 'PAID', method: 'PIX' },
  { id: 'ord_b', status: 'PAID', method: 'CREDIT_CARD' },
  { id: 'ord_c', status: 'UNPAID', method: 'BOLETO' },
  { id: 'ord_d', status: 'REFUNDED', method: 'PIX' },
  { id: 'ord_e', status: 'TRIAL', method: 'CREDIT_CARD' },
  { id: 'ord_f', status: 'AWAITING_PAYMENT', method: 'BOLETO' },
] as const

beforeAll(async () => {
  app = await createTestApp()
  key = (await app.issue()).key
  await app.load(
    orders.map(({ id, status, method }, minute) =>
      sourceOrder({
        id,
        status,
        created_at: at(minute),
        changed_at: id === 'ord_f' ? null : at(30 - minute),
        payments: [sourcePayment({ method })],
      }),
    ),
  )
})
afterAll(() => app.close())

const ids = async (query: string) =>
  (await app.list(query, key)).data.map(({ id }) => id.slice('ord_'.length)).join('')

describe('the filters of the list route', () => {
  it.each([
    ['', 'fedcba'],
    ['sort=created_at_desc', 'fedcba'],
    ['sort=updated_at_asc', 'edcbaf'],
    ['status=PAID', 'ba'],
    ['status=PAID,UNPAID', 'cba'],
    ['status=PAID&status=UNPAID', 'cba'],
    ['status=PAID,UNPAID&status=TRIAL&status=PAID', 'ecba'],
    ['status=SHIPPED', ''],
    ['payment_method=PIX', 'da'],
    ['payment_method=MULTIPLE', ''],
    ['status=PAID,REFUNDED&payment_method=PIX,BOLETO', 'da'],
    [`created_gte=${at(2)}`, 'fedc'],
    [`created_lt=${at(2)}`, 'ba'],
    [`created_gte=${at(1)}&created_lt=${at(4)}`, 'dcb'],
    [`created_gte=${at(4)}&created_lt=${at(1)}`, ''],
    ['created_gte=2026-03-01T09:02:00-03:00', 'fedc'],
    ['created_gte=2026-03-01T14:02:00%2B02:00', 'fedc'],
    ['created_gte=2026-03-01T12:02:00.0001Z', 'fed'],
    ['created_lt=2026-03-01T12:02:00.0001Z', 'cba'],
    [`updated_gte=${at(28)}`, 'cba'],
    [`updated_lt=${at(28)}`, 'ed'],
    [`updated_gte=${at(27)}&sort=updated_at_asc`, 'dcba'],
    ['updated_gte=0000-01-01T00:00:00Z', 'edcba'],
    ['updated_lt=9999-12-31T23:59:59Z', 'edcba'],
    ['updated_lt=9999-12-31T23:59:59Z&sort=updated_at_asc', 'edcba'],
    ['updated_gte=0000-01-01T00:00:00%2B03:00&updated_lt=9999-12-31T23:59:59-03:00', 'edcba'],
    ['created_gte=9999-12-31T23:59:59-03:00', ''],
    ['created_lt=0000-01-01T00:00:00%2B03:00', ''],
  ])('the query "%s" returns the orders "%s"', async (query, expected) => {
    expect(await ids(query)).toBe(expected)
  })

  it('misspelled filters are ignored, and named in Ignored-Params', async () => {
    const { headers, json } = await app.call('/v1/orders?statuss=PAID&a%20b=1&x=', { key })
    expect(json.data).toHaveLength(6)
    expect(headers['ignored-params']).toBe('statuss;did-you-mean=status, a%20b, x')
  })

  it('Ignored-Params names at most ten parameters, truncated to a valid header', async () => {
    const query = Array.from({ length: 15 }, (_, n) => `${'😀'.repeat(60)}${n}=1`).join('&')
    const { status, headers } = await app.call(`/v1/orders?${encodeURI(query)}`, { key })
    expect(status).toBe(200)
    expect(String(headers['ignored-params']).split(', ')).toHaveLength(10)
  })
})

describe('the page of the list route', () => {
  it('reports an empty list', async () => {
    expect(await app.list('status=SHIPPED', key)).toEqual({
      object: 'list',
      data: [],
      has_more: false,
      next_cursor: null,
    })
  })

  it.each([1, 2, 3, 6, 7, 100])(
    'pages of %i orders lead through all orders exactly once',
    async (limit) => {
      for (const sort of ['created_at_desc', 'updated_at_asc']) {
        const pages = await walk(app, key, `sort=${sort}&limit=${limit}`)
        expect(pages.map(({ data }) => data.length)).toEqual(pageSizes(6, limit))
        expect(new Set(pages.flatMap(({ data }) => data.map(({ id }) => id))).size).toBe(6)
      }
    },
  )

  it('a page has 20 orders without a limit', async () => {
    const many = Array.from({ length: 21 }, (_, n) =>
      sourceOrder({ id: `ord_${n}`, owner_account_id: 'acc_many' }),
    )
    await app.load(many)
    const other = await app.issue({ accountId: 'acc_many' })
    expect((await app.list('', other.key)).data).toHaveLength(20)
  })
})

describe('a cursor of the list route', () => {
  const first = async (query: string) => {
    const { next_cursor } = await app.list(`${query}&limit=2`, key)
    return next_cursor ?? ''
  }

  it('continues after its page with another limit', async () => {
    expect(await ids(`limit=3&cursor=${await first('')}`)).toBe('dcb')
  })

  it('a cursor is equal for equivalent spellings of the filters', async () => {
    const cursor = await first('status=PAID,UNPAID,TRIAL&created_gte=2026-03-01T12:00:00Z')
    const same = 'status=TRIAL&status=UNPAID,PAID,PAID&created_gte=2026-03-01T09:00:00.000-03:00'
    expect(await ids(`${same}&cursor=${cursor}`)).toBe('ba')
  })

  it.each([
    ['another sort', 'sort=updated_at_asc'],
    ['an additional filter', 'status=PAID'],
    ['another bound', `created_gte=${at(0)}`],
  ])('a cursor is rejected with %s', async (_name, query) => {
    const error = await app.error(`/v1/orders?${query}&cursor=${await first('')}`, { key })
    expect(error).toMatchObject({ status: 400, code: 'invalid_request', param: 'cursor' })
  })

  it('a cursor is rejected when it was issued to another account', async () => {
    const other = await app.issue({ accountId: 'acc_other' })
    const cursor = await first('')
    const error = await app.error(`/v1/orders?cursor=${cursor}`, { key: other.key })
    expect(error).toMatchObject({ status: 400, param: 'cursor' })
    expect(error.message).toContain('recomece a listagem sem cursor')
  })

  it.each(['x', 'AQ', '%20', 'A'.repeat(512), 'A'.repeat(513), ''])(
    'the text "%s" is rejected as a cursor',
    async (text) => {
      const error = await app.error(`/v1/orders?cursor=${text}`, { key })
      expect(error).toMatchObject({ status: 400, param: 'cursor' })
    },
  )
})

describe('an invalid parameter', () => {
  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=5.0', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['status=paid', 'status'],
    ['status=PAID,', 'status'],
    ['payment_method=CASH', 'payment_method'],
    ['created_gte=2026-03-01', 'created_gte'],
    ['created_lt=2026-02-30T00:00:00Z', 'created_lt'],
    ['updated_gte=2026-03-01T00:00:00', 'updated_gte'],
    ['updated_lt=2026-03-01T00:00:00+03:00', 'updated_lt'],
    ['sort=id', 'sort'],
  ])('the error names the invalid parameter in %s', async (query, param) => {
    const error = await app.error(`/v1/orders?${query}`, { key })
    expect(error).toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      code: 'invalid_request',
      param,
    })
    expect(error.headers).toHaveProperty('ratelimit-remaining')
  })

  it('the error for a + explains that a + in a URL is a space', async () => {
    const error = await app.error('/v1/orders?created_gte=2026-03-01T00:00:00+03:00', { key })
    expect(error.message).toContain('%2B')
  })
})

function pageSizes(total: number, limit: number): number[] {
  const sizes = Array.from({ length: Math.floor(total / limit) }, () => limit)
  return total % limit === 0 ? sizes : [...sizes, total % limit]
}
