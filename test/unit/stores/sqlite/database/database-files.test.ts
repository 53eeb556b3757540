import { copyFileSync, existsSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { KeyStore } from '../../../../../src/auth/key-store.ts'
import type { PepperCheckStore } from '../../../../../src/auth/pepper-check.ts'
import { load } from '../../../../../src/indexing/sources/load.ts'
import { createWriter } from '../../../../../src/indexing/writer/writer.ts'
import { wallClock } from '../../../../../src/lib/clock.ts'
import { Unavailable } from '../../../../../src/lib/errors/unavailable.ts'
import { IndexLost, KEY_STORE } from '../../../../../src/stores/index-lost.ts'
import {
  applyMigrations,
  BUSY_MS,
  openDatabase,
} from '../../../../../src/stores/sqlite/database/database.ts'
import { beginSqliteAfterLoss } from '../../../../../src/stores/sqlite/database/database-files.ts'
import { ordersMigrations } from '../../../../../src/stores/sqlite/database/schema.ts'
import { openSqliteKeys, openSqliteStores } from '../../../../../src/stores/sqlite/stores.ts'
import type { ProcessRole, Stores } from '../../../../../src/stores/stores.ts'
import { changeOf } from '../../../../support/orders/changes.ts'
import { sourceOrder } from '../../../../support/orders/source-order.ts'
import { keyRecord } from '../../../../support/stores/key-record.ts'
import { ndjson } from '../../../../support/stores/services.ts'
import { createTestFolder } from '../../../../support/stores/test-folder.ts'

let dataDir: string
let opened: Pick<Stores, 'close'>[]
beforeEach(() => {
  dataDir = createTestFolder()
  opened = []
})
afterEach(async () => {
  for (const stores of opened) await stores.close()
})

const file = (name: string) => join(dataDir, name)

function open(role: ProcessRole = 'command'): Stores {
  const stores = openSqliteStores({ dataDir }, role)
  opened.push(stores)
  return stores
}

async function write(stores: Stores, id = 'ord_1'): Promise<void> {
  const index = await stores.openIndex()
  const options = { mode: 'live', onRejected() {}, onProgress() {} } as const
  await load(ndjson([sourceOrder({ id })]), {
    ...options,
    writer: createWriter(index, wallClock),
  }).finally(() => index.close())
}

const lose = () => rmSync(file('orders.db'))

describe('the database orders.db', () => {
  it('orders.db is created before keys.db, even by the keys command alone', () => {
    opened.push(openSqliteKeys({ dataDir }))
    rmSync(file('keys.db'))
    expect(existsSync(file('orders.db'))).toBe(true)
    expect(open).not.toThrow()
  })

  it.each([
    ['an empty file', () => writeFileSync(file('orders.db'), '')],
    ['the creation of its tables', async () => open().close()],
  ])('orders.db is completed when a first start ended after %s', async (_when, begin) => {
    await begin()
    for (const name of ['keys.db', 'keys.db-wal', 'keys.db-shm'])
      rmSync(file(name), { force: true })
    opened = []
    await write(open())
    expect(await open().orders.get('acc_1', 'ord_1')).not.toBeNull()
  })

  it.each([
    ['gone', lose],
    ['empty', () => truncateSync(file('orders.db'))],
    [
      'a database without a table',
      () => {
        lose()
        using db = new DatabaseSync(file('orders.db'))
        db.exec('PRAGMA journal_mode = WAL')
      },
    ],
  ])('orders.db that is %s next to keys.db is lost and not recreated', async (_what, damage) => {
    await write(open())
    await opened.pop()?.close()
    damage()
    const isThere = existsSync(file('orders.db'))
    expect(open).toThrow(IndexLost)
    expect(open).toThrow(IndexLost)
    expect(existsSync(file('orders.db'))).toBe(isThere)
    expect(beginSqliteAfterLoss(dataDir)).toMatchObject({ created: file('orders.db'), unused: [] })
    expect(await open().orders.get('acc_1', 'ord_1')).toBeNull()
    await write(open(), 'ord_2')
    expect(await open().orders.get('acc_1', 'ord_2')).not.toBeNull()
  })

  it('a lost orders.db keeps keys usable', async () => {
    const { keys, close } = open()
    await keys.insert(keyRecord({ keyId: 'key_1', digest: 'd1' }))
    await close()
    opened = []
    lose()
    const alone = openSqliteKeys({ dataDir })
    opened.push(alone)
    expect(await alone.keys.byId('key_1')).toMatchObject({ digest: 'd1' })
    expect(existsSync(file('orders.db'))).toBe(false)
  })
})

describe('a database that is recreated', () => {
  it('a recreated database ignores the log of the lost one, which a process may have open', async () => {
    const before = open()
    await write(before)
    expect(existsSync(file('orders.db-wal'))).toBe(true)
    lose()
    beginSqliteAfterLoss(dataDir)
    const after = open()
    expect(await after.orders.get('acc_1', 'ord_1')).toBeNull()
    await write(after, 'ord_2')
    const again = open()
    expect(await again.orders.get('acc_1', 'ord_1')).toBeNull()
    expect(await again.orders.get('acc_1', 'ord_2')).not.toBeNull()
  })

  it('a recreated database discards an old log', async () => {
    const before = open()
    await write(before)
    copyFileSync(file('orders.db-wal'), file('left'))
    await before.close()
    opened = []
    lose()
    copyFileSync(file('left'), file('orders.db-wal'))
    beginSqliteAfterLoss(dataDir)
    expect(await open().orders.get('acc_1', 'ord_1')).toBeNull()
  })

  it('the recreation is rejected when nothing is lost', () => {
    expect(() => beginSqliteAfterLoss(dataDir)).toThrow('nothing is lost')
    open()
    expect(() => beginSqliteAfterLoss(dataDir)).toThrow('nothing is lost')
  })

  it('the recreation leaves a file with other tables unchanged', () => {
    open()
    lose()
    using db = new DatabaseSync(file('orders.db'))
    db.exec('CREATE TABLE orders (id)')
    expect(() => beginSqliteAfterLoss(dataDir)).toThrow('table orders already exists')
    expect(db.prepare('SELECT * FROM orders').all()).toEqual([])
  })
})

describe('a process that has orders.db open', () => {
  async function expectRetriedBy(role: ProcessRole, failing: Promise<unknown>): Promise<void> {
    const error = await failing.catch((thrown: unknown) => thrown)
    expect(error instanceof Unavailable).toBe(role === 'server')
  }

  function replace(): void {
    lose()
    beginSqliteAfterLoss(dataDir)
  }

  async function beginAgain(openIndex: Stores['openIndex']): Promise<void> {
    const index = await openIndex()
    const lock = await index.lock(['ord_1'])
    await lock.begin().finally(() => index.close())
  }

  it.each([
    ['command', 'removed', lose],
    ['command', 'replaced', replace],
    ['server', 'removed', lose],
    ['server', 'replaced', replace],
  ] as const)(
    'a %s with orders.db open reads and writes nothing after it was %s, and only a server retries',
    async (role, _what, damage) => {
      const { orders, openIndex } = open(role)
      const index = await openIndex()
      const writer = createWriter(index, wallClock)
      const put = () =>
        load(ndjson([sourceOrder()]), { writer, mode: 'live', onRejected() {}, onProgress() {} })
      damage()
      await expect(orders.get('acc_1', 'ord_1')).rejects.toBeInstanceOf(Unavailable)
      await expect(orders.latestWrite('acc_1')).rejects.toBeInstanceOf(Unavailable)
      const writing = put()
      await expect(writing).rejects.toThrow('was removed or replaced')
      await index.close()
      const opening = beginAgain(openIndex)
      await expect(opening).rejects.toThrow('was removed or replaced')
      for (const failing of [writing, opening]) await expectRetriedBy(role, failing)
    },
  )

  it.each(['command', 'server'] as const)(
    'a %s with orders.db open reads it and writes nothing after a newer program upgraded it',
    async (role) => {
      const { orders, openIndex } = open(role)
      const index = await openIndex()
      const writer = createWriter(index, wallClock)
      await writer.write([changeOf(sourceOrder())], 'live')
      const newer = [...ordersMigrations, 'ALTER TABLE orders ADD COLUMN later TEXT']
      openDatabase(file('orders.db'), newer, BUSY_MS.command).close()
      const writing = writer.write([changeOf(sourceOrder({ id: 'ord_2' }))], 'live')
      await expect(writing).rejects.toThrow(`${file('orders.db')}: it was upgraded by a newer`)
      await index.close()
      const opening = openIndex()
      await expect(opening).rejects.toThrow(`cannot open the database ${file('orders.db')}: it has`)
      for (const failing of [writing, opening]) await expectRetriedBy(role, failing)
      expect(await orders.get('acc_1', 'ord_1')).not.toBeNull()
      expect(await orders.get('acc_1', 'ord_2')).toBeNull()
    },
  )
})

describe('a process that has keys.db open', () => {
  /** As an operator restores a backup under a running process. */
  function replaceKeys(): void {
    copyFileSync(file('keys.db'), file('copy'))
    renameSync(file('copy'), file('keys.db'))
  }

  it.each([
    ['removed', 'server', () => rmSync(file('keys.db'))],
    ['replaced', 'server', replaceKeys],
    ['replaced', 'command for keys alone', replaceKeys],
  ])(
    'a process with keys.db open finds and changes no key after it was %s, as a %s',
    async (_what, role, damage) => {
      if (role !== 'server') open()
      const { keys, pepperCheck, ...stores } =
        role === 'server' ? openSqliteStores({ dataDir }, 'server') : openSqliteKeys({ dataDir })
      opened.push(stores)
      await keys.insert(keyRecord({ keyId: 'key_1', digest: 'd1' }))
      damage()
      const calls: Record<
        keyof KeyStore | keyof PepperCheckStore,
        () => Promise<unknown> | undefined
      > = {
        find: () => keys.find('d1'),
        ping: () => keys.ping(),
        list: () => keys.list('acc_1'),
        byId: () => keys.byId('key_1'),
        wasAnyKeyUsed: () => keys.wasAnyKeyUsed(),
        insert: () => keys.insert(keyRecord({ keyId: 'key_2', digest: 'd2' })),
        update: () => keys.update('d1', { revokedAt: 1 }),
        expire: () => keys.expire('d1', 1),
        setAccountBlocked: () => keys.setAccountBlocked('acc_1', true),
        isAccountBlocked: () => keys.isAccountBlocked('acc_1'),
        read: () => pepperCheck?.read(),
        replace: () => pepperCheck?.replace('check'),
        hasKeys: () => pepperCheck?.hasKeys(),
      }
      for (const [name, call] of Object.entries(calls)) {
        const error = await call()?.catch((thrown: unknown) => thrown)
        expect(error, name).toBeInstanceOf(Unavailable)
        expect(error).toHaveProperty('message', expect.stringContaining('removed or replaced'))
      }
    },
  )
})

it('an upgrade of orders.db, which may take minutes, is reported before it begins, once', async () => {
  const db = new DatabaseSync(file('orders.db'))
  applyMigrations(db, ordersMigrations.slice(0, 1))
  db.exec('PRAGMA user_version = 1; PRAGMA journal_mode = WAL')
  const versions: unknown[] = []
  const start = () =>
    openSqliteStores({ dataDir }, 'server', (warning) => {
      expect(warning).toContain(`upgrading ${file('orders.db')}`)
      versions.push(db.prepare('PRAGMA user_version').get()?.['user_version'])
    })
  await start().close()
  await start().close()
  db.close()
  expect(versions).toEqual([1])
})

describe('a missing webhooks.db or management.db', () => {
  let warnings: string[]
  beforeEach(() => {
    warnings = []
  })
  const collect = (warning: string) => warnings.push(warning)

  const starts = [
    ['the whole service', () => openSqliteStores({ dataDir }, 'command', collect)],
    ['keys alone', () => openSqliteKeys({ dataDir }, collect)],
  ] as const

  const restart = (start: () => Pick<Stores, 'close'>) => start().close()

  describe.each(starts)('at a start of %s', (_name, start) => {
    it.each([
      ['missing', 'webhooks.db', rmSync],
      ['missing', 'management.db', rmSync],
      ['empty', 'webhooks.db', truncateSync],
      ['empty', 'management.db', truncateSync],
    ] as const)(
      'the %s %s beside stored keys is reported by path, once',
      async (_how, name, lose) => {
        const { keys, close } = start()
        await keys.insert(keyRecord({ keyId: 'key_1', digest: 'd1' }))
        await close()
        lose(file(name))
        await restart(start)
        expect(warnings).toEqual([
          expect.stringContaining(`${file(name)} is missing or empty beside stored keys`),
        ])
        await restart(start)
        expect(warnings).toHaveLength(1)
      },
    )

    it('a missing file without stored keys is a first start', async () => {
      await restart(start)
      for (const name of ['webhooks.db', 'management.db']) rmSync(file(name))
      await restart(start)
      expect(warnings).toEqual([])
    })
  })

  it('the first start after a first key finds every file', async () => {
    const { keys, close } = openSqliteKeys({ dataDir }, collect)
    await keys.insert(keyRecord({ keyId: 'key_1', digest: 'd1' }))
    await close()
    await restart(() => openSqliteStores({ dataDir }, 'command', collect))
    expect(warnings).toEqual([])
  })
})

describe('a lost keys.db next to orders.db', () => {
  beforeEach(async () => {
    await write(open())
    await opened.pop()?.close()
  })

  const deletion = { id: 'ord_1', version: 2, owner_account_id: 'acc_1', deleted: true }

  it.each([
    ['gone', () => rmSync(file('keys.db'))],
    ['empty', () => truncateSync(file('keys.db'))],
  ])('keys.db that is %s next to stored orders is lost and not recreated', async (_what, lose) => {
    lose()
    const isThere = existsSync(file('keys.db'))
    for (const start of [open, open, () => openSqliteKeys({ dataDir })]) {
      expect(start).toThrow(IndexLost)
      expect(start).toThrow('the store of keys and accounts is lost')
    }
    expect(existsSync(file('keys.db'))).toBe(isThere)

    const recovery = { created: file('keys.db'), lost: KEY_STORE, unused: [] }
    expect(beginSqliteAfterLoss(dataDir)).toEqual(recovery)
    const { keys, orders } = open()
    expect(await keys.find('d1')).toBeNull()
    expect(await orders.get('acc_1', 'ord_1')).not.toBeNull()
    expect(() => beginSqliteAfterLoss(dataDir)).toThrow('nothing is lost')
  })

  it('the version record of an erased order is evidence of lost keys', async () => {
    const index = await open().openIndex()
    await createWriter(index, wallClock).write([changeOf(deletion)], 'live')
    await index.close()
    await opened.pop()?.close()
    rmSync(file('keys.db'))
    expect(open).toThrow(IndexLost)
  })

  it('recreated keys ignore the log of the lost ones, which a process may have open', async () => {
    const before = open()
    await before.keys.insert(keyRecord({ keyId: 'key_1', digest: 'd1' }))
    expect(existsSync(file('keys.db-wal'))).toBe(true)
    rmSync(file('keys.db'))
    beginSqliteAfterLoss(dataDir)
    expect(await open().keys.find('d1')).toBeNull()
  })
})
