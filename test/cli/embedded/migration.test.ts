import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { beforeEach, expect, it, vi } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import { noFilters, type OrderFilters } from '../../../src/orders/filters/filters.ts'
import { openServices } from '../../../src/services.ts'
import { applyMigrations } from '../../../src/stores/sqlite/database/database.ts'
import { fillChecksums } from '../../../src/stores/sqlite/database/fill-checksums.ts'
import { fillLookups } from '../../../src/stores/sqlite/database/fill-lookups.ts'
import { type Migration, ordersMigrations } from '../../../src/stores/sqlite/database/schema.ts'
import { startBackground } from '../../support/cli/background-process.ts'
import { runCommand } from '../../support/cli/command.ts'
import { createTestFolder } from '../../support/stores/test-folder.ts'

/**
 * Enough that a migration outlasts the cache of SQLite, and writes to the log before its commit.
 */
const ORDERS = 40_000
/** A kill is too late when this process was paused before it. */
const KILL_ATTEMPTS = 5
const migrations: readonly Migration[] = ordersMigrations
const PAID_AT = Date.parse('2026-03-01T12:00:00.500Z')

interface Stored {
  checksum: number
  json: Uint8Array
}

let folder: string
beforeEach(() => {
  folder = createTestFolder()
})

const open = () => new DatabaseSync(join(folder, 'orders.db'))

/** A database with orders that were written before this migration. */
function createEarlierDatabase(migration: Migration): void {
  using db = open()
  const at = migrations.indexOf(migration)
  const first = migrations.indexOf(fillLookups)
  db.exec('PRAGMA journal_mode = WAL; BEGIN')
  applyMigrations(db, migrations.slice(0, first))
  const insert = db.prepare(`INSERT INTO orders VALUES ('acc_1', ?, 1, 'PAID', 'PIX', ?, ?, 1, ?)`)
  for (let n = 0; n < ORDERS; n++) {
    const order = {
      ...{ object: 'order', id: `ord_${n}`, paid_at: new Date(PAID_AT + n).toISOString() },
      customer: { email: `Ana${n % 1000}@X.com`, document: '12345678909' },
      items: [{ product_id: `prod_${n % 7}` }, { product_id: `prod_${n}` }],
    }
    insert.run(`ord_${n}`, n, n, Buffer.from(JSON.stringify(order)))
  }
  applyMigrations(db, migrations.slice(first, at))
  db.exec(`PRAGMA user_version = ${at}; COMMIT; PRAGMA wal_checkpoint(TRUNCATE)`)
}

function versionAndSchema() {
  using db = open()
  const version = db.prepare('PRAGMA user_version').get()?.['user_version']
  const schema = db.prepare('SELECT name, sql FROM sqlite_master ORDER BY name').all()
  return { version, schema }
}

/** Kills a process once it has written to the log; `code` is `null` unless it ended by itself. */
async function killMigratingProcess() {
  const log = join(folder, 'orders.db-wal')
  const serve = startBackground(['serve'], { DATA_DIR: folder, PORT: '0' })
  const isDue = () => serve.hasEnded() || (existsSync(log) && statSync(log).size > 1_000_000)
  await vi.waitFor(() => expect(isDue()).toBe(true), { timeout: 60_000, interval: 2 })
  const code = await serve.stop('SIGKILL')
  return { code, output: serve.output() }
}

/** Interrupts a migration; returns what was there before, and the killed process. */
async function interrupt(migration: Migration) {
  for (let attempt = 1; ; attempt++) {
    createEarlierDatabase(migration)
    const before = versionAndSchema()
    const killed = await killMigratingProcess()
    const isLate = killed.code !== null || versionAndSchema().version !== before.version
    if (!isLate || attempt === KILL_ATTEMPTS) return { before, killed }
    folder = createTestFolder()
  }
}

async function idsFound(filters: Partial<OrderFilters>, size: number): Promise<string[]> {
  const services = await openServices(parseConfig({ DATA_DIR: folder }))
  const page = await services.orders.findPage({
    ...{ accountId: 'acc_1', sort: 'updated_at_asc', after: null, nullsWrittenAfter: null, size },
    filters: { ...noFilters, ...filters },
  })
  await services.close()
  return page.map(({ id }) => id)
}

it.each<[name: string, migration: Migration]>([
  ['of the filters by text and by payment', fillLookups],
  ['of the checksums', fillChecksums],
])(
  'a migration %s that was killed in the middle loses nothing, and the next start completes it',
  async (_name, migration) => {
    const { before, killed } = await interrupt(migration)
    expect(killed.code).toBeNull()
    expect(versionAndSchema()).toEqual(before)
    // It blocks the event loop, so that a buffered line would be lost.
    expect(killed.output).toContain(`upgrading ${join(folder, 'orders.db')}`)

    expect(await runCommand(['index', 'status'], { DATA_DIR: folder })).toMatchObject({ code: 0 })
    expect(versionAndSchema().version).toBe(ordersMigrations.length)
    using db = open()
    expect(db.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    const counted = db.prepare(
      'SELECT field, count(*) AS texts, count(DISTINCT id) AS orders FROM order_lookups GROUP BY field ORDER BY field',
    )
    expect(counted.all()).toEqual([
      { field: 'customer_document', texts: ORDERS, orders: ORDERS },
      { field: 'customer_email', texts: ORDERS, orders: ORDERS },
      // The first seven orders have one product twice.
      { field: 'product_ids', texts: 2 * ORDERS - 7, orders: ORDERS },
    ])
    expect(await idsFound({ customerEmails: ['ana7@x.com'] }, 3)).toEqual([
      ...['ord_7', 'ord_1007', 'ord_2007'],
    ])
    expect(await idsFound({ productIds: ['prod_39999'] }, 3)).toEqual(['ord_39999'])
    const paid = { gte: PAID_AT + 500, lt: PAID_AT + 502 }
    expect(await idsFound({ paid }, 3)).toEqual(['ord_500', 'ord_501'])
    const stored = db.prepare('SELECT checksum, json FROM orders').all() as unknown as Stored[]
    expect(stored.filter(({ checksum, json }) => checksum !== crc32(json))).toEqual([])
  },
)
