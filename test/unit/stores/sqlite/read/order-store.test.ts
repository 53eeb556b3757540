import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { noFilters, type OrderFilters } from '../../../../../src/orders/filters/filters.ts'
import { applyMigrations } from '../../../../../src/stores/sqlite/database/database.ts'
import { ordersMigrations } from '../../../../../src/stores/sqlite/database/schema.ts'
import { createSqliteOrderStore } from '../../../../../src/stores/sqlite/read/order-store.ts'

let db: DatabaseSync
beforeAll(() => {
  db = new DatabaseSync(':memory:')
  applyMigrations(db, ordersMigrations)
})
afterAll(() => db.close())

const twenty = (textOf: (at: number) => string) => Array.from({ length: 20 }, (_, at) => textOf(at))

it.each<[string, Partial<OrderFilters>, number]>([
  ['once for a common form', { productIds: ['prod_1'], statuses: ['PAID'] }, 1],
  [
    'each time for a long one, of which there are too many to keep',
    {
      productIds: twenty((at) => `prod_${at}`),
      customerEmails: twenty((at) => `${at}@x.example`),
    },
    3,
  ],
])('the statement of a page is prepared %s', async (_when, filters, times) => {
  const prepare = vi.spyOn(db, 'prepare')
  const store = createSqliteOrderStore(db)
  for (let page = 0; page < 3; page += 1) {
    const query = { accountId: 'acc_1', sort: 'created_at_desc', after: null, size: 21 } as const
    await store.findPage({
      ...query,
      nullsWrittenAfter: null,
      filters: { ...noFilters, ...filters },
    })
  }
  const pages = prepare.mock.calls.filter(([sql]) => sql.includes('SELECT key, orders.id'))
  expect(pages).toHaveLength(times)
  prepare.mockRestore()
})
