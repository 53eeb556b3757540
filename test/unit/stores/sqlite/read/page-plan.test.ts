import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noFilters, type OrderFilters } from '../../../../../src/orders/filters/filters.ts'
import { type PageQuery, sorts } from '../../../../../src/orders/order-store.ts'
import { applyMigrations } from '../../../../../src/stores/sqlite/database/database.ts'
import { ordersMigrations } from '../../../../../src/stores/sqlite/database/schema.ts'
import { joinRows } from '../../../../../src/stores/sqlite/read/joined-rows.ts'
import { pageStatement } from '../../../../../src/stores/sqlite/read/page-statement.ts'

const NONE: OrderFilters = noFilters
const place = { key: 5000, id: 'ord_5' }
const indexOf = { created_at_desc: 'orders_by_created', updated_at_asc: 'orders_by_updated' }

const filterForms: [string, Partial<OrderFilters>][] = [
  ['no filter', {}],
  ['a status', { statuses: ['PAID'] }],
  ['statuses', { statuses: ['PAID', 'REFUNDED', 'TRIAL'] }],
  ['payment methods', { paymentMethods: ['PIX', 'MULTIPLE'] }],
  ['created_gte', { created: { gte: 1000 } }],
  ['created_lt', { created: { lt: 9000 } }],
  ['both bounds of created_at', { created: { gte: 1000, lt: 9000 } }],
  ['updated_gte', { updated: { gte: 1000 } }],
  ['updated_lt', { updated: { lt: 9000 } }],
  ['both bounds of updated_at', { updated: { gte: 1000, lt: 9000 } }],
  ['both bounds of paid_at', { paid: { gte: 100, lt: 9990 } }],
  [
    'every filter',
    {
      statuses: ['PAID', 'REFUNDED'],
      paymentMethods: ['PIX', 'MULTIPLE'],
      created: { gte: 1000, lt: 9000 },
      updated: { gte: 1000, lt: 9000 },
      paid: { gte: 100, lt: 9990 },
    },
  ],
]

const forms = sorts.flatMap((sort) =>
  filterForms.flatMap(([name, filters]) =>
    [null, place].map((after): [string, PageQuery] => [
      `by ${sort} with ${name}${after ? ', after a place,' : ''}`,
      {
        accountId: 'acc_1',
        sort,
        filters: { ...NONE, ...filters },
        after,
        nullsWrittenAfter: null,
        size: 21,
      },
    ]),
  ),
)
const marked = [null, place].map((after): [string, PageQuery] => [
  `by updated_at_asc with a mark${after ? ', after a place,' : ''}`,
  {
    accountId: 'acc_1',
    sort: 'updated_at_asc',
    filters: NONE,
    after,
    nullsWrittenAfter: place,
    size: 21,
  },
])

function filledDatabase(analyzed: boolean): DatabaseSync {
  const db = new DatabaseSync(':memory:')
  applyMigrations(db, ordersMigrations)
  const insert = db.prepare('INSERT INTO orders VALUES (?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, 0)')
  for (let n = 0; n < 2000; n++) {
    const [status, method] = n % 2 ? ['PAID', 'PIX'] : ['REFUNDED', 'MULTIPLE']
    const at = Math.floor(n / 2)
    const [created, updated] = [at * 10, ((at * 379) % 1000) * 10]
    insert.run(
      `acc_${n % 2}`,
      `ord_${n}`,
      status,
      method,
      created,
      updated,
      n,
      Buffer.from('{}'),
      created,
      '{}',
    )
  }
  if (analyzed) db.exec('ANALYZE')
  return db
}

describe.each([
  ['a new database', false],
  ['a database with statistics', true],
])('a page query in %s', (_name, analyzed) => {
  let db: DatabaseSync

  beforeAll(() => {
    db = filledDatabase(analyzed)
  })
  afterAll(() => {
    db.close()
  })

  function planOf(query: PageQuery): string[] {
    const { sql, params } = pageStatement(query)
    const steps = db.prepare(`EXPLAIN QUERY PLAN ${joinRows(sql)}`).all(...params)
    return steps.map(({ detail }) => String(detail))
  }

  it.each([...forms, ...marked])(
    'the page query for %s uses the index of its sort',
    (_form, query) => {
      const plan = planOf(query)
      expect(plan).toEqual([
        expect.stringMatching(/^CO-ROUTINE/),
        expect.stringContaining(`SEARCH orders USING INDEX ${indexOf[query.sort]} (account_id=?`),
        expect.stringMatching(/^SCAN \(subquery-\d+\)$/),
      ])
    },
  )

  // The filters match most rows, so a page that starts at its position finds its rows at once.
  it.each([...forms, ...marked])(
    'the page query for %s reads hardly more rows than it returns',
    (_form, query) => {
      const { sql, params } = pageStatement(query)
      let visited = 0
      db.function('visited', () => {
        visited++
        return 1
      })
      const rows = db.prepare(sql.replace('WHERE', 'WHERE visited() AND')).all(...params)
      expect(rows.length).toBeGreaterThan(0)
      expect(visited).toBeLessThanOrEqual(3 * query.size)
    },
  )
})
