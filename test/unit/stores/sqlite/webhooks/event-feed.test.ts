import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Unavailable } from '../../../../../src/lib/errors/unavailable.ts'
import { beginSqliteAfterLoss } from '../../../../../src/stores/sqlite/database/database-files.ts'
import { openSqliteStores } from '../../../../../src/stores/sqlite/stores.ts'
import { openSqliteWebhookStores } from '../../../../../src/stores/sqlite/webhooks/webhook-stores.ts'
import { createTestFolder } from '../../../../support/stores/test-folder.ts'
import { delivery } from '../../../../support/webhooks/delivery.ts'
import { eventRecord } from '../../../../support/webhooks/event-record.ts'
import {
  appendEventRecords,
  readEventRecords,
} from '../../../../support/webhooks/stores/sqlite-event-records.ts'

type Opened = ReturnType<typeof openSqliteWebhookStores>

let dataDir: string
let opened: Opened[]
beforeEach(() => {
  dataDir = createTestFolder()
  opened = []
})
afterEach(async () => {
  await closeAll()
})

function open(): Opened {
  const stores = openSqliteWebhookStores({ dataDir }, 'server')
  opened.push(stores)
  return stores
}

async function closeAll() {
  for (const stores of opened.splice(0)) await stores.close()
}

const file = (name: string) => join(dataDir, name)

function removeDatabase(name: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file(`${name}${suffix}`), { force: true })
}

async function fanOutAll({ events }: Opened): Promise<string[]> {
  const found: string[] = []
  for (let page = await events.next(2); page !== null; page = await events.next(2)) {
    found.push(...page.records.map(({ orderId }) => orderId))
    await page.fanOut([])
  }
  return found
}

const records = (...orderIds: string[]) => orderIds.map((id) => eventRecord(id, 1))

describe('the cursor of the event feed', () => {
  it('begins anew with an orders.db that was made anew', async () => {
    await openSqliteStores({ dataDir }, 'command').close()
    const before = open()
    appendEventRecords(dataDir, records('ord_1', 'ord_2'))
    await fanOutAll(before)
    await closeAll()
    removeDatabase('orders.db')
    beginSqliteAfterLoss(dataDir)
    appendEventRecords(dataDir, records('ord_3', 'ord_4', 'ord_5'))
    expect(await fanOutAll(open())).toEqual(['ord_3', 'ord_4', 'ord_5'])
  })

  it.each([
    ['behind the cursor', ['ord_4']],
    ['at the cursor', ['ord_4', 'ord_5']],
    ['past the cursor', ['ord_4', 'ord_5', 'ord_6']],
  ])(
    'finds the records of an older orders.db that was restored, with its last record %s',
    async (_where, later) => {
      appendAfterOpening('ord_1')
      await closeAll()
      copyFileSync(file('orders.db'), file('backup'))
      appendEventRecords(dataDir, records('ord_2', 'ord_3'))
      expect(await fanOutAll(open())).toEqual(['ord_1', 'ord_2', 'ord_3'])
      await closeAll()
      removeDatabase('orders.db')
      copyFileSync(file('backup'), file('orders.db'))
      const restored = later.map((id) => eventRecord(id, 1, { recordedAt: 20_000 }))
      appendEventRecords(dataDir, restored)
      const after = open()
      expect(await fanOutAll(after)).toEqual(['ord_1', ...later])
      expect(await after.events.next(10)).toBeNull()
    },
  )

  it('begins anew where the record at the cursor is missing', async () => {
    appendAfterOpening('ord_1', 'ord_2')
    const stores = open()
    await fanOutAll(stores)
    using db = new DatabaseSync(file('orders.db'))
    db.exec('DELETE FROM order_events WHERE position = 2')
    appendEventRecords(dataDir, records('ord_3', 'ord_4'))
    expect(await fanOutAll(stores)).toEqual(['ord_1', 'ord_3', 'ord_4'])
  })

  it('begins anew with a lost webhooks.db, which has no endpoints either', async () => {
    appendAfterOpening('ord_1', 'ord_2')
    await fanOutAll(open())
    await closeAll()
    removeDatabase('webhooks.db')
    const after = open()
    expect((await after.endpoints.changes(null)).endpoints).toEqual([])
    expect(await fanOutAll(after)).toEqual(['ord_1', 'ord_2'])
  })

  it('stays when the deliveries of the page cannot be stored', async () => {
    appendAfterOpening('ord_1')
    const { events, deliveries } = open()
    const page = await events.next(10)
    const invalid = delivery({ id: 'b', nextAt: 0.5 })
    await expect(page?.fanOut([delivery({ id: 'a' }), invalid])).rejects.toThrow('REAL')
    expect(await deliveries.byId('a')).toBeNull()
    expect((await events.next(10))?.records).toEqual(records('ord_1'))
  })
})

function appendAfterOpening(...orderIds: string[]): void {
  open()
  appendEventRecords(dataDir, records(...orderIds))
}

describe('the event feed', () => {
  it('reads no record until another connection has written', async () => {
    const { events } = open()
    expect(await events.next(10)).toBeNull()
    const all = vi.spyOn(StatementSync.prototype, 'all')
    for (let n = 0; n < 20; n += 1) expect(await events.next(10)).toBeNull()
    expect(all).not.toHaveBeenCalled()
    appendEventRecords(dataDir, records('ord_1'))
    expect(await events.next(10)).not.toBeNull()
  })

  it('is unavailable once orders.db was removed', async () => {
    const { events } = open()
    rmSync(file('orders.db'))
    await expect(events.next(10)).rejects.toBeInstanceOf(Unavailable)
    await expect(events.purge(20_000)).rejects.toBeInstanceOf(Unavailable)
  })

  it('leaves old records while a load writes, and removes them afterwards', async () => {
    appendAfterOpening('ord_1', 'ord_2', 'ord_3')
    const stores = open()
    await fanOutAll(stores)
    using load = new DatabaseSync(file('orders.db'))
    load.exec('BEGIN IMMEDIATE')
    await stores.events.purge(20_000)
    expect(readEventRecords(dataDir)).toHaveLength(3)
    load.exec('ROLLBACK')
    await stores.events.purge(20_000)
    // The record at the cursor identifies the history of the file.
    expect(readEventRecords(dataDir)).toEqual(records('ord_3'))
  })

  it('purges many records, also behind one that has a later instant', async () => {
    const stores = open()
    const many = Array.from({ length: 1_200 }, (_, n) => eventRecord(`ord_${n}`, 1))
    const later = eventRecord('ord_later', 1, { recordedAt: 30_000 })
    appendEventRecords(dataDir, [later, ...many])
    const page = await stores.events.next(2_000)
    await page?.fanOut([])
    await stores.events.purge(20_000)
    expect(readEventRecords(dataDir)).toEqual([later, many.at(-1)])
  })
})
