import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { beforeEach, describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../../src/lib/errors/unavailable.ts'
import { openDatabase } from '../../../../../src/stores/sqlite/database/database.ts'
import { guardDatabase } from '../../../../../src/stores/sqlite/database/guarded-database.ts'
import { openSqliteStores } from '../../../../../src/stores/sqlite/stores.ts'
import { createTestFolder } from '../../../../support/stores/test-folder.ts'

let dataDir: string
beforeEach(() => {
  dataDir = createTestFolder()
})

const HOLD_MS = 500

/** Locks an empty file as a process does that creates it; another thread, as opening blocks. */
async function holdEmpty(file: string): Promise<Worker> {
  const code = `
    const { parentPort, workerData } = require('node:worker_threads')
    const { DatabaseSync } = require('node:sqlite')
    const db = new DatabaseSync(workerData.file)
    db.exec('BEGIN IMMEDIATE')
    parentPort.postMessage('held')
    setTimeout(() => db.close(), ${HOLD_MS})`
  const worker = new Worker(code, { eval: true, workerData: { file } })
  await new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
  return worker
}

describe('a start while another process creates a database', () => {
  it.each(['orders.db', 'keys.db', 'webhooks.db', 'management.db'])(
    'a start waits until %s is created',
    async (name) => {
      await openSqliteStores({ dataDir }, 'command').close()
      // Without keys.db, an empty orders.db is no loss.
      for (const created of [name, 'keys.db']) rmSync(join(dataDir, created), { force: true })
      const worker = await holdEmpty(join(dataDir, name))
      const stores = openSqliteStores({ dataDir }, 'server')
      await stores.close()
      await worker.terminate()
    },
  )

  it('a start whose wait was too short, as beside a long upgrade, is told to try again', () => {
    const [file, locked] = [join(dataDir, 'any.db'), join(dataDir, 'locked.db')]
    using other = new DatabaseSync(locked)
    other.exec('BEGIN EXCLUSIVE')
    const wait = `PRAGMA busy_timeout = 0; ATTACH '${locked}' AS locked; CREATE TABLE locked.one (id)`
    expect(() => openDatabase(file, [wait], 20)).toThrow(
      `${file}: database is locked. Another process upgrades or writes it: try again once that is complete`,
    )
  })

  it('a start ends the wait with the opening: a later write waits as long as it was opened for', () => {
    const db = openDatabase(join(dataDir, 'any.db'), [], 20)
    expect(db.prepare('PRAGMA busy_timeout').get()).toEqual({ timeout: 20 })
    db.close()
  })
})

it('a start of an earlier program is rejected with both ways out', () => {
  const file = join(dataDir, 'any.db')
  openDatabase(file, ['CREATE TABLE one (id)', 'CREATE TABLE two (id)'], 20).close()
  expect(() => openDatabase(file, ['CREATE TABLE one (id)'], 20)).toThrow(
    `${file}: it has version 2 and this program supports up to 1; use a newer program, or restore the backup from before the update`,
  )
})

it('a guarded database rejects write transactions once a newer program upgraded the file', () => {
  const file = join(dataDir, 'any.db')
  const migrations = ['CREATE TABLE entries (id)']
  const db = guardDatabase(openDatabase(file, migrations, 20), file, migrations)
  const insert = db.prepare('INSERT INTO entries VALUES (1)')
  db.write(() => insert.run())
  openDatabase(file, [...migrations, 'ALTER TABLE entries ADD COLUMN later'], 20).close()
  expect(() => db.write(() => insert.run())).toThrow(Unavailable)
  const count = db.prepare('SELECT count(*) AS entries FROM entries')
  expect(db.run(() => count.get())).toEqual({ entries: 1 })
  db.close()
})
