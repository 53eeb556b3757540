import { describe, expect, it } from 'vitest'
import { noFilters, type OrderFilters } from '../../../../../src/orders/filters/filters.ts'
import { NULL_INSTANT_KEY, type PageQuery } from '../../../../../src/orders/order-store.ts'
import { pageStatement } from '../../../../../src/stores/sqlite/read/page-statement.ts'

const NONE: OrderFilters = noFilters
const statement = (changes: Partial<PageQuery> = {}, filters: Partial<OrderFilters> = {}) =>
  pageStatement({
    accountId: 'acc_1',
    sort: 'created_at_desc',
    filters: { ...NONE, ...filters },
    after: null,
    nullsWrittenAfter: null,
    size: 21,
    ...changes,
  })

const after = { key: 7000, id: 'ord_7' }
const nullsWrittenAfter = { key: 9000, id: 'ord_9' }

/** The SQL between the account and the sort, and its parameters. */
const filtered: [string, Partial<OrderFilters>, string, (string | number)[]][] = [
  ['no filter', {}, '', []],
  ['one status', { statuses: ['PAID'] }, ' AND status IN (?)', ['PAID']],
  ['two statuses', { statuses: ['PAID', 'TRIAL'] }, ' AND status IN (?, ?)', ['PAID', 'TRIAL']],
  [
    'payment methods',
    { paymentMethods: ['PIX', 'MULTIPLE', 'BOLETO'] },
    ' AND payment_method IN (?, ?, ?)',
    ['PIX', 'MULTIPLE', 'BOLETO'],
  ],
  ['created_gte', { created: { gte: 1000 } }, ' AND created_key >= ?', [1000]],
  ['created_lt', { created: { lt: 2000 } }, ' AND created_key < ?', [2000]],
  [
    'both bounds of created_at',
    { created: { gte: 1000, lt: 2000 } },
    ' AND created_key >= ? AND created_key < ?',
    [1000, 2000],
  ],
  [
    'a bound of 0',
    { created: { gte: 0, lt: 0 } },
    ' AND created_key >= ? AND created_key < ?',
    [0, 0],
  ],
  [
    'updated_gte, which leaves out the nulls',
    { updated: { gte: 3000 } },
    ' AND updated_key >= ? AND updated_key < ?',
    [3000, NULL_INSTANT_KEY],
  ],
  [
    'updated_lt, which leaves out the nulls by itself',
    { updated: { lt: 4000 } },
    ' AND updated_key < ?',
    [4000],
  ],
  [
    'updated_lt after every date, which leaves out the nulls all the same',
    { updated: { lt: NULL_INSTANT_KEY + 1 } },
    ' AND updated_key < ?',
    [NULL_INSTANT_KEY],
  ],
  [
    'every filter',
    {
      statuses: ['PAID'],
      paymentMethods: ['PIX'],
      created: { gte: 1000, lt: 2000 },
      updated: { gte: 3000, lt: 4000 },
    },
    ' AND status IN (?) AND payment_method IN (?) AND created_key >= ? AND created_key < ? AND updated_key >= ? AND updated_key < ?',
    ['PAID', 'PIX', 1000, 2000, 3000, 4000],
  ],
]

const ROW = `key, id, json, shape, written_key || '-' || checksum AS tag`

describe('the SQL of a page', () => {
  it.each(filtered)('the SQL by created_at_desc filters by %s', (_name, filters, sql, params) => {
    expect(statement({}, filters)).toEqual({
      sql: `SELECT created_key AS ${ROW} FROM orders INDEXED BY orders_by_created WHERE account_id = ?${sql} ORDER BY created_key DESC, id DESC LIMIT +?`,
      params: ['acc_1', ...params, 21],
    })
  })

  it.each(filtered)('the SQL by updated_at_asc filters by %s', (_name, filters, sql, params) => {
    expect(statement({ sort: 'updated_at_asc' }, filters)).toEqual({
      sql: `SELECT updated_key AS ${ROW} FROM orders INDEXED BY orders_by_updated WHERE account_id = ?${sql} ORDER BY updated_key ASC, id ASC LIMIT +?`,
      params: ['acc_1', ...params, 21],
    })
  })

  it('the SQL by created_at_desc continues below a position', () => {
    expect(statement({ after })).toEqual({
      sql: `SELECT created_key AS ${ROW} FROM orders INDEXED BY orders_by_created WHERE account_id = ? AND (created_key, id) < (?, ?) ORDER BY created_key DESC, id DESC LIMIT +?`,
      params: ['acc_1', 7000, 'ord_7', 21],
    })
  })

  it('the SQL by updated_at_asc continues above a position', () => {
    expect(statement({ sort: 'updated_at_asc', after })).toEqual({
      sql: `SELECT updated_key AS ${ROW} FROM orders INDEXED BY orders_by_updated WHERE account_id = ? AND (updated_key, id) > (?, ?) ORDER BY updated_key ASC, id ASC LIMIT +?`,
      params: ['acc_1', 7000, 'ord_7', 21],
    })
  })

  it.each([
    ['created_at_desc', { created: { gte: 1000, lt: 8000 } }, ' AND created_key >= ?'],
    ['created_at_desc', { created: { lt: 6000 } }, ' AND created_key < ?'],
    ['updated_at_asc', { updated: { gte: 6000, lt: 8000 } }, ' AND updated_key < ?'],
    [
      'updated_at_asc',
      { updated: { gte: 8000, lt: 9000 } },
      ' AND updated_key >= ? AND updated_key < ?',
    ],
  ] as const)(
    'the SQL by %s drops a bound that the position has passed: %o',
    (sort, filters, kept) => {
      const place = sort === 'created_at_desc' ? '(created_key, id) <' : '(updated_key, id) >'
      expect(statement({ sort, after }, filters).sql).toContain(
        `account_id = ?${kept} AND ${place}`,
      )
    },
  )

  it('the SQL of undated orders returns only those written after a mark', () => {
    expect(statement({ sort: 'updated_at_asc', after, nullsWrittenAfter }).sql).toContain(
      ' AND (updated_key, id) > (?, ?) AND (updated_key < 8640000000000000 OR (written_key, id) > (?, ?)) ORDER BY',
    )
  })

  it('the SQL has its parameters in the sequence of their places', () => {
    const query = { sort: 'updated_at_asc', after, nullsWrittenAfter } as const
    const { sql, params } = statement(query, { statuses: ['PAID'], created: { lt: 2000 } })
    expect(params).toEqual(['acc_1', 'PAID', 2000, 7000, 'ord_7', 9000, 'ord_9', 21])
    expect(sql.split('?')).toHaveLength(params.length + 1)
  })

  it('the SQL text contains no value', () => {
    const hostile = "x' OR 1=1 --"
    const { sql } = statement({ accountId: hostile, after: { key: 1, id: hostile } })
    expect(sql).not.toContain('OR 1=1')
  })
})
