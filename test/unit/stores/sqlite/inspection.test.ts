import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { invalidKeyFields } from '../../../../src/indexing/consistency-check/invalid-key-fields.ts'
import { applyMigrations } from '../../../../src/stores/sqlite/database/database.ts'
import { ordersMigrations } from '../../../../src/stores/sqlite/database/schema.ts'
import { createSqliteInspection } from '../../../../src/stores/sqlite/inspection.ts'
import { collect } from '../../../support/orders/collect.ts'
import { confuseParser, QUOTE_TRACKING } from '../../../support/orders/escaped-names.ts'

let db: DatabaseSync
beforeEach(() => {
  db = new DatabaseSync(':memory:')
  applyMigrations(db, ordersMigrations)
})
afterEach(() => db.close())

const put = (accountId: string, id: string, json = '{}', createdKey: number | bigint = 1) =>
  db
    .prepare("INSERT INTO orders VALUES (?, ?, 1, 'PAID', 'PIX', ?, 2, 3, ?, 4, '{}', 0)")
    .run(accountId, id, createdKey, Buffer.from(json))

const scanDocuments = (pageSize: number) =>
  collect(createSqliteInspection(db, pageSize).scanDocuments())

describe('a scan of documents', () => {
  it('the scan returns every row once, by account and order', async () => {
    for (const id of ['ord_b', 'ord_a', 'ord_c']) put('acc_2', id)
    for (const id of ['ord_b', 'ord_d']) put('acc_1', id)
    const pages = await scanDocuments(2)
    expect(pages.map((page) => page.length)).toEqual([2, 2, 1])
    expect(pages.flat().map(({ address }) => `${address.accountId}:${address.orderId}`)).toEqual([
      'acc_1:ord_b',
      'acc_1:ord_d',
      'acc_2:ord_a',
      'acc_2:ord_b',
      'acc_2:ord_c',
    ])
  })

  it('the scan of an empty table returns no page', async () => {
    expect(await scanDocuments(2)).toEqual([])
  })

  it('the scan returns tracking keys exactly, even where V8 confuses names with escapes', async () => {
    confuseParser()
    const json = JSON.stringify({ tracking: QUOTE_TRACKING })
    put('acc_1', 'ord_1', json)
    const [document] = (await scanDocuments(2)).flat()
    expect(JSON.stringify(document?.order)).toBe(json)
  })

  it.each<[what: string, json: string, createdKey: number | bigint, field: string]>([
    ['whose order is not JSON', '{"id":', 1, 'id'],
    ['with a key above the safe integers', '{"id":"ord_1"}', 2n ** 62n, 'created_key'],
  ])('the scan returns a row %s', async (_what, json, createdKey, field) => {
    put('acc_1', 'ord_1', json, createdKey)
    const [document] = (await scanDocuments(2)).flat()
    expect(document && invalidKeyFields(document)).toContain(field)
  })
})

describe('a scan of version records', () => {
  const putRecord = (id: string) =>
    db
      .prepare("INSERT INTO order_heads VALUES (?, 3, 'acc_1', 'acc_1 acc_2', 1, 1, 0, NULL)")
      .run(id)
  const scanVersionRecords = () => collect(createSqliteInspection(db, 2).scanVersionRecords())

  it('the scan returns every version record once, in pages', async () => {
    for (const id of ['ord_b', 'ord_a', 'ord_c']) putRecord(id)
    const pages = await scanVersionRecords()
    expect(pages.map((page) => page.length)).toEqual([2, 1])
    expect(pages.flat().map(({ orderId }) => orderId)).toEqual(['ord_a', 'ord_b', 'ord_c'])
    expect(pages[0]?.[0]).toMatchObject({ version: 3, accountIds: ['acc_1', 'acc_2'] })
  })

  it('the scan of an empty version record table returns no page', async () => {
    expect(await scanVersionRecords()).toEqual([])
  })
})

it('the overview of an in-memory table has a name', async () => {
  const { indices } = await createSqliteInspection(db).overview(0)
  expect(indices).toMatchObject([{ name: 'in memory', documents: 0, read: true, fed: true }])
})
