import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type InstantRange,
  noFilters,
  type OrderFilters,
} from '../../../../../src/orders/filters/filters.ts'
import { NULL_INSTANT_KEY, type PageQuery, sorts } from '../../../../../src/orders/order-store.ts'
import { applyMigrations } from '../../../../../src/stores/sqlite/database/database.ts'
import { ordersMigrations } from '../../../../../src/stores/sqlite/database/schema.ts'
import type { Statement } from '../../../../../src/stores/sqlite/read/condition-sql.ts'
import {
  type JoinedRows,
  joinRows,
  splitRows,
} from '../../../../../src/stores/sqlite/read/joined-rows.ts'
import { planPage } from '../../../../../src/stores/sqlite/read/plan-page.ts'

const ORDERS = 12_000
const place = { key: ORDERS * 5 + 1, id: 'ord_9' }

/** Half of the orders have the broad texts; one in a thousand has the selective ones. */
const filterForms: [string, Partial<OrderFilters>][] = [
  ['a broad product', { productIds: ['prod_broad'] }],
  ['a selective product', { productIds: ['prod_7'] }],
  ['several products', { productIds: ['prod_broad', 'prod_7', 'prod_8', 'prod_none'] }],
  ['a broad e-mail', { customerEmails: ['broad@x'] }],
  ['a selective e-mail', { customerEmails: ['7@x'] }],
  ['a document', { customerDocuments: ['12345678909'] }],
  ['a broad product and a status', { productIds: ['prod_broad'], statuses: ['PAID'] }],
  [
    'a broad product and a selective e-mail',
    { productIds: ['prod_broad'], customerEmails: ['7@x'] },
  ],
  [
    'a broad e-mail and a selective product',
    { productIds: ['prod_7'], customerEmails: ['broad@x'] },
  ],
  [
    'a broad e-mail and a product as broad',
    { productIds: ['prod_broad'], customerEmails: ['broad@x'] },
  ],
  [
    'a broad product and few days of payment',
    { productIds: ['prod_broad'], paid: { gte: 0, lt: 900 } },
  ],
  [
    'a broad product and a range of creation',
    { productIds: ['prod_broad'], created: { gte: 100, lt: ORDERS * 10 } },
  ],
  [
    'a broad product and a range of updates',
    { productIds: ['prod_broad'], updated: { gte: 100, lt: ORDERS * 10 } },
  ],
  ['few days of payment', { paid: { gte: 0, lt: 900 } }],
  ['many days of payment', { paid: { gte: 0, lt: ORDERS * 10 } }],
]

const forms = sorts.flatMap((sort) =>
  filterForms.flatMap(([name, filters]) =>
    [null, place].map((after): [string, PageQuery] => [
      `by ${sort} with ${name}${after ? ', after a place,' : ''}`,
      {
        ...{ accountId: 'acc_1', sort, after, nullsWrittenAfter: null, size: 21 },
        filters: { ...noFilters, ...filters },
      },
    ]),
  ),
)

interface Row {
  id: string
  created: number
  updated: number
  paid: number
  status: string
  lookups: { customer_email: string[]; customer_document: string[]; product_ids: string[] }
}

const rows = Array.from({ length: ORDERS }, (_, n): Row => {
  const isBroad = n % 2 === 0
  return {
    id: `ord_${n}`,
    created: n * 10,
    updated: ((n * 379) % ORDERS) * 10,
    paid: n % 3 === 0 ? NULL_INSTANT_KEY : n * 10,
    status: n % 4 === 0 ? 'PAID' : 'REFUNDED',
    lookups: {
      customer_email: [isBroad ? 'broad@x' : `${n % 1000}@x`],
      customer_document: n % 5 === 0 ? ['12345678909'] : [],
      product_ids: [...(isBroad ? ['prod_broad'] : []), `prod_${n % 1000}`],
    },
  }
})

describe.each([
  ['a new database', false],
  ['a database with statistics', true],
])('a page of few orders in %s', (_name, analyzed) => {
  let db: DatabaseSync

  beforeAll(() => {
    db = new DatabaseSync(':memory:')
    applyMigrations(db, ordersMigrations)
    const insert = db.prepare(
      "INSERT INTO orders VALUES (?, ?, 1, ?, 'PIX', ?, ?, ?, x'7b7d', ?, ?, 0)",
    )
    for (const accountId of ['acc_1', 'acc_2']) {
      for (const { id, status, created, updated, paid, lookups } of rows) {
        insert.run(accountId, id, status, created, updated, 1, paid, JSON.stringify(lookups))
      }
    }
    if (analyzed) db.exec('ANALYZE')
  })
  afterAll(() => {
    db.close()
  })

  const run = ({ sql, params }: Statement) => db.prepare(sql).all(...params)
  const statementOf = (query: PageQuery) => planPage(query, (read) => run(read)[0] ?? {})

  it.each(forms)(
    'the page query for %s returns what a scan of all orders finds',
    (_form, query) => {
      const { sql, params } = statementOf(query)
      const joined = db.prepare(joinRows(sql)).get(...params) as unknown as JoinedRows
      expect(splitRows(joined).map(({ id }) => id)).toEqual(expectedIds(query))
    },
  )

  it.each(forms)('the page query for %s scans no table', (_form, query) => {
    const { sql, params } = statementOf(query)
    const steps = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...params)
    const scanned = steps
      .map(({ detail }) => String(detail))
      .filter((step) => step.startsWith('SCAN'))
    expect(scanned.filter((step) => /orders|order_lookups/.test(step))).toEqual([])
  })

  // A page must not read all matches of a broad text.
  it.each(forms)('the page query for %s reads hardly more rows than it returns', (_form, query) => {
    const { sql, params } = statementOf(query)
    let visited = 0
    db.function('visited', () => {
      visited++
      return 1
    })
    db.prepare(sql.replaceAll('WHERE account_id', 'WHERE visited() AND account_id')).all(...params)
    expect(visited).toBeLessThanOrEqual(12 * query.size)
  })
})

function expectedIds({ sort, filters, after, size }: PageQuery): string[] {
  const { statuses, productIds, customerEmails, customerDocuments } = filters
  const isWithin = (key: number, { gte, lt }: InstantRange) =>
    (gte === undefined || key >= gte) && (lt === undefined || key < lt)
  const hasOne = (texts: readonly string[], wanted: readonly string[]) =>
    wanted.length === 0 || wanted.some((text) => texts.includes(text))
  const isDescending = sort === 'created_at_desc'
  const keyOf = ({ created, updated }: Row) => (isDescending ? created : updated)
  return rows
    .filter(({ status }) => hasOne([status], statuses))
    .filter(({ lookups }) => hasOne(lookups.product_ids, productIds))
    .filter(({ lookups }) => hasOne(lookups.customer_email, customerEmails))
    .filter(({ lookups }) => hasOne(lookups.customer_document, customerDocuments))
    .filter(({ paid }) => isWithin(paid, filters.paid))
    .filter(({ created }) => isWithin(created, filters.created))
    .filter(({ updated }) => isWithin(updated, filters.updated))
    .filter((row) => !after || (isDescending ? keyOf(row) < after.key : keyOf(row) > after.key))
    .toSorted((one, other) => (keyOf(one) - keyOf(other)) * (isDescending ? -1 : 1))
    .slice(0, size)
    .map(({ id }) => id)
}
