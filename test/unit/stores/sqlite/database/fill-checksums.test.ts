import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeEach, expect, it } from 'vitest'
import { load } from '../../../../../src/indexing/sources/load.ts'
import { createWriter } from '../../../../../src/indexing/writer/writer.ts'
import { wallClock } from '../../../../../src/lib/clock.ts'
import { noFilters, type OrderFilters } from '../../../../../src/orders/filters/filters.ts'
import { sorts } from '../../../../../src/orders/order-store.ts'
import { fillChecksums } from '../../../../../src/stores/sqlite/database/fill-checksums.ts'
import { ordersMigrations } from '../../../../../src/stores/sqlite/database/schema.ts'
import { openSqliteStores } from '../../../../../src/stores/sqlite/stores.ts'
import type { Stores } from '../../../../../src/stores/stores.ts'
import { sourceOrder } from '../../../../support/orders/source-order.ts'
import { ndjson } from '../../../../support/stores/services.ts'
import { createTestFolder } from '../../../../support/stores/test-folder.ts'

const ids = Array.from({ length: 30 }, (_, at) => `ord_${at}`)

let dataDir: string
beforeEach(() => {
  dataDir = createTestFolder()
})

async function withStores<T>(use: (stores: Stores) => Promise<T>): Promise<T> {
  const stores = openSqliteStores({ dataDir }, 'command')
  return await use(stores).finally(() => stores.close())
}

async function write(stores: Stores, orders: object[]): Promise<void> {
  const index = await stores.openIndex()
  const writer = createWriter(index, wallClock)
  const options = { mode: 'live', onRejected() {}, onProgress() {} } as const
  await load(ndjson(orders), { ...options, writer }).finally(() => index.close())
}

function removeChecksums(): void {
  using db = new DatabaseSync(join(dataDir, 'orders.db'))
  db.exec('ALTER TABLE orders DROP COLUMN checksum')
  db.exec(`PRAGMA user_version = ${ordersMigrations.indexOf(fillChecksums)}`)
}

async function pages(stores: Stores, filters: Partial<OrderFilters> = {}) {
  const query = { accountId: 'acc_1', after: null, nullsWrittenAfter: null, size: 100 }
  const given = { ...noFilters, ...filters }
  const read = sorts.map((sort) => stores.orders.findPage({ ...query, sort, filters: given }))
  const found = await Promise.all(read)
  return found.map((rows) =>
    rows.map((row) => ({ ...row, json: Buffer.from(row.json).toString() })),
  )
}

it('orders of an earlier release have the pages and tags of orders that are written now', async () => {
  const written = await withStores(async (stores) => {
    await write(
      stores,
      ids.map((id) => sourceOrder({ id })),
    )
    await write(
      stores,
      ids.slice(0, 10).map((id) => sourceOrder({ id, version: 2, amount_total: 9901 })),
    )
    return await pages(stores)
  })
  expect(written.map((rows) => rows.length)).toEqual([ids.length, ids.length])
  removeChecksums()
  expect(await withStores(pages)).toEqual(written)
})

it('orders of an earlier release are found by their texts, also once these change', async () => {
  const customer = (email: string) => ({ ...sourceOrder().customer, email })
  const found = (stores: Stores, email: string) => pages(stores, { customerEmails: [email] })
  await withStores((stores) => write(stores, [sourceOrder({ customer: customer('ana@x.com') })]))
  removeChecksums()
  await withStores(async (stores) => {
    expect((await found(stores, 'ana@x.com')).flat()).toHaveLength(2)
    await write(stores, [sourceOrder({ version: 2, customer: customer('rita@x.com') })])
    expect((await found(stores, 'ana@x.com')).flat()).toEqual([])
    expect((await found(stores, 'rita@x.com')).flat()).toHaveLength(2)
  })
})
