import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { open as openFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { probeOrders } from '../../../../../src/http/operations/readiness.ts'
import { createWriter } from '../../../../../src/indexing/writer/writer.ts'
import { wallClock } from '../../../../../src/lib/clock.ts'
import { Unavailable } from '../../../../../src/lib/errors/unavailable.ts'
import { beginSqliteAfterLoss } from '../../../../../src/stores/sqlite/database/database-files.ts'
import { openSqliteKeys, openSqliteStores } from '../../../../../src/stores/sqlite/stores.ts'
import type { ProcessRole, Stores } from '../../../../../src/stores/stores.ts'
import { changeOf } from '../../../../support/orders/changes.ts'
import { sourceOrder } from '../../../../support/orders/source-order.ts'
import { keyRecord } from '../../../../support/stores/key-record.ts'
import { createTestFolder } from '../../../../support/stores/test-folder.ts'

let dataDir: string
let opened: Pick<Stores, 'close'>[]
beforeEach(async () => {
  dataDir = createTestFolder()
  opened = []
  const stores = openSqliteStores({ dataDir }, 'command')
  await stores.keys.insert(keyRecord({ keyId: 'key_1', digest: 'd1' }))
  const index = await stores.openIndex()
  await createWriter(index, wallClock).write([changeOf(sourceOrder())], 'live')
  await index.close()
  await stores.close()
})
afterEach(async () => {
  for (const stores of opened) await stores.close()
})

const file = (name: string) => join(dataDir, name)

function open(role: ProcessRole = 'server'): Stores {
  const stores = openSqliteStores({ dataDir }, role)
  opened.push(stores)
  return stores
}

/** Overwrites the first page of a table, which every read of its rows needs. */
async function damageTable(name: string, table: string): Promise<void> {
  const db = new DatabaseSync(file(name))
  const page = db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table)
  const size = Number(db.prepare('PRAGMA page_size').get()?.['page_size'])
  db.close()
  const handle = await openFile(file(name), 'r+')
  const at = (Number(page?.['rootpage']) - 1) * size
  await handle.write(Buffer.alloc(size, 0xff), 0, size, at)
  await handle.close()
}

const describesDamage = (name: string) =>
  expect.stringMatching(
    new RegExp(`^${file(name)}: .*is damaged: stop every process .* move the file .* backup`),
  )

const errorOf = (call: Promise<unknown>) => call.catch((error: unknown) => error)

describe('a damaged orders.db', () => {
  beforeEach(() => damageTable('orders.db', 'orders'))

  it('a damaged orders.db ends the readiness with the first read that finds it', async () => {
    const { orders } = open()
    await probeOrders(orders)
    for (const call of [() => orders.get('acc_1', 'ord_1'), () => probeOrders(orders)]) {
      const error = await errorOf(call())
      expect(error).toBeInstanceOf(Unavailable)
      expect(error).toHaveProperty('message', describesDamage('orders.db'))
    }
  })

  it('a damaged orders.db that a read found gets no write from a server', async () => {
    const { orders, openIndex } = open()
    await errorOf(orders.get('acc_1', 'ord_1'))
    const index = await openIndex()
    // It needs no page of the damaged table.
    const deletion = { id: 'ord_2', version: 1, owner_account_id: 'acc_1', deleted: true }
    const error = await errorOf(createWriter(index, wallClock).write([changeOf(deletion)], 'live'))
    await index.close()
    expect(error).toBeInstanceOf(Unavailable)
    expect(error).toHaveProperty('message', describesDamage('orders.db'))
    using db = new DatabaseSync(file('orders.db'))
    expect(db.prepare("SELECT * FROM order_heads WHERE id = 'ord_2'").all()).toEqual([])
  })

  it.each([
    ['server', true],
    ['command', false],
  ] as const)(
    'a damaged orders.db is named by the writer of a %s, and only a server retries',
    async (role, isRetried) => {
      const index = await open(role).openIndex()
      const change = changeOf({ ...sourceOrder(), version: 2 })
      const error = await errorOf(createWriter(index, wallClock).write([change], 'live'))
      await index.close()
      expect(error instanceof Unavailable).toBe(isRetried)
      expect(error).toHaveProperty('message', describesDamage('orders.db'))
    },
  )

  it('a damaged orders.db is named by the inspection', async () => {
    const { inspection } = open('command')
    const keys = [{ accountId: 'acc_1', orderId: 'ord_1' }]
    const scan = inspection.scanDocuments()[Symbol.asyncIterator]()
    const calls = [inspection.documents(keys), scan.next()]
    for (const call of calls) {
      expect(await errorOf(call)).toHaveProperty('message', describesDamage('orders.db'))
    }
  })

  it('a damaged orders.db is named where the clock is accepted', async () => {
    await damageTable('orders.db', 'writer')
    expect(() => open('command').trustClock?.()).toThrow(
      `${file('orders.db')}: database disk image`,
    )
  })

  it('a damaged orders.db is named by the recreation', async () => {
    await damageTable('orders.db', 'order_heads')
    expect(() => beginSqliteAfterLoss(dataDir)).toThrow(`${file('orders.db')}: database disk image`)
  })

  it('a damaged orders.db is recreated once it was moved away', () => {
    expect(() => beginSqliteAfterLoss(dataDir)).toThrow(
      'If it is damaged, move it and its -wal and -shm away first',
    )
    renameSync(file('orders.db'), file('damaged'))
    expect(beginSqliteAfterLoss(dataDir)).toMatchObject({ created: file('orders.db') })
  })

  it('a damaged orders.db that an operator replaced needs a new start alone', async () => {
    const { orders } = open()
    rmSync(file('orders.db'))
    writeFileSync(file('orders.db'), '')
    const error = await errorOf(orders.get('acc_1', 'ord_1'))
    expect(error).toHaveProperty('message', expect.stringContaining('was removed or replaced'))
  })
})

it.each([
  [
    'the writer',
    'order_heads',
    async ({ openIndex }: Stores) => {
      const index = await openIndex()
      const change = changeOf({ ...sourceOrder(), version: 2 })
      await createWriter(index, wallClock)
        .write([change], 'live')
        .finally(() => index.close())
    },
  ],
  ['the event feed', 'order_events', ({ webhooks }: Stores) => webhooks.events.next(1)],
] as const)(
  'a damaged orders.db that %s of a server found ends the readiness',
  async (_who, table, findDamage) => {
    await damageTable('orders.db', table)
    const stores = open()
    await probeOrders(stores.orders)
    expect(await errorOf(findDamage(stores))).toBeInstanceOf(Unavailable)
    const error = await errorOf(probeOrders(stores.orders))
    expect(error).toHaveProperty('message', describesDamage('orders.db'))
  },
)

it('a damaged keys.db is named by the lookup of a key, and ends readiness and writes', async () => {
  await damageTable('keys.db', 'api_keys')
  const { keys, close } = openSqliteKeys({ dataDir })
  opened.push({ close })
  const { find, ping, setAccountBlocked } = open().keys
  await ping()
  const block = () => setAccountBlocked('acc_1', true)
  for (const call of [() => find('d1'), () => keys.byId('key_1'), ping, block]) {
    const error = await errorOf(call())
    expect(error).toBeInstanceOf(Unavailable)
    expect(error).toHaveProperty('message', describesDamage('keys.db'))
  }
  using db = new DatabaseSync(file('keys.db'))
  expect(db.prepare('SELECT * FROM accounts').all()).toEqual([])
})

it('a watch.lock of another kind is named with the advice to remove it', async () => {
  writeFileSync(file('watch.lock'), Buffer.alloc(100_000, 0xff))
  await expect(open('command').openIndex()).rejects.toThrow(
    `${file('watch.lock')}: file is not a database. Stop every process of the service, and remove the file`,
  )
})

it('a damaged webhooks.db does not prevent that a key is revoked', async () => {
  writeFileSync(file('webhooks.db'), Buffer.alloc(100_000, 0xff))
  const stores = openSqliteKeys({ dataDir })
  opened.push(stores)
  await stores.keys.update('d1', { revokedAt: 1 })
  expect(await stores.keys.byId('key_1')).toMatchObject({ revokedAt: 1 })
})

it.each(['orders.db', 'keys.db', 'webhooks.db', 'management.db'])(
  'a start names %s when it is no database, and the way to continue',
  (name) => {
    writeFileSync(file(name), Buffer.alloc(100_000, 0xff))
    expect(() => open()).toThrow(`cannot open the database ${file(name)}: file is not a database`)
    expect(() => open()).toThrow('move the file and its -wal and -shm away')
  },
)
