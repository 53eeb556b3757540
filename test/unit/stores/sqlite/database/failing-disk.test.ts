import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../../src/lib/errors/unavailable.ts'
import { openDatabase } from '../../../../../src/stores/sqlite/database/database.ts'
import { guardDatabase } from '../../../../../src/stores/sqlite/database/guarded-database.ts'
import { openSqliteStores } from '../../../../../src/stores/sqlite/stores.ts'
import { createTestFolder } from '../../../../support/stores/test-folder.ts'
import { asUnprivilegedUser } from '../../../../support/unprivileged-user.ts'

let dataDir: string
beforeEach(() => {
  dataDir = createTestFolder()
})

const file = (name: string) => join(dataDir, name)

/** SQLite cannot open a folder as a file. */
function block(name: string): void {
  rmSync(file(name), { force: true })
  mkdirSync(file(name))
}

const OWNER_ADVICE = '. Let the user of this process write DATA_DIR: chown'

it('a file that this process may only read is named by a write with the owner and mode to set', () => {
  const migrations = ['CREATE TABLE texts (text)']
  const opened = openDatabase(file('any.db'), migrations, 20)
  const db = guardDatabase(opened, file('any.db'), migrations)
  opened.exec('PRAGMA query_only = ON') // SQLite reports the same, also to root.
  const insert = db.prepare("INSERT INTO texts VALUES ('text')")
  const write = () => db.write(() => insert.run())
  expect(write).toThrow(Unavailable)
  expect(write).toThrow(`${file('any.db')}: attempt to write a readonly database${OWNER_ADVICE}`)
  db.close()
})

it.each([
  ['is not there', 0o555, 'mkdir', () => join(dataDir, 'missing')],
  ['belongs to another user, such as a volume of root', 0o555, 'open', () => dataDir],
  ['another user created', 0o700, 'open', () => dataDir],
])(
  'a data folder that %s, and that this process may not write, is named with the owner and mode to set',
  (_name, mode, call, folder) => {
    chmodSync(dataDir, mode)
    const path = join(folder(), 'any.db')
    const opening = () => asUnprivilegedUser(() => openDatabase(path, [], 20))
    expect(opening).toThrow(`cannot open the database ${path}: EACCES: permission denied, ${call}`)
    expect(opening).toThrow(OWNER_ADVICE)
  },
)

it.each([
  ['is a file', 'any.db'],
  ['is below a file', 'folder/any.db'],
])('a data folder that %s is named with what to correct', (_name, path) => {
  writeFileSync(file('file'), '')
  expect(() => openDatabase(join(file('file'), path), [], 20)).toThrow(
    `mkdir '${file('file')}'. This path is a file, or a link`,
  )
})

describe('a writer whose files cannot be opened', () => {
  it.each([
    ['server', 'watch.lock', true, 'It is a folder'],
    ['server', 'orders.db', true, 'was removed or replaced'],
    ['command', 'watch.lock', false, 'It is a folder'],
    ['command', 'orders.db', false, 'was removed or replaced'],
  ] as const)(
    'the writer of a %s names %s, and only that of a server retries',
    async (role, name, isRetried, reason) => {
      const stores = openSqliteStores({ dataDir }, role)
      block(name)
      const error: unknown = await stores.openIndex().catch((thrown: unknown) => thrown)
      await stores.close()
      expect(error instanceof Unavailable).toBe(isRetried)
      expect(error).toHaveProperty('message', expect.stringContaining(file(name)))
      expect(error).toHaveProperty('message', expect.stringContaining(reason))
    },
  )
})

describe('a file whose identity cannot be read', () => {
  // The system reports a loop; a lost permission and a failing disk are as persistent.
  const hide = (name: string) => {
    rmSync(file(name))
    symlinkSync(file(name), file(name))
  }
  const reason = (name: string) =>
    expect.stringContaining(`cannot read the identity of ${file(name)}: ELOOP`)

  it('a file whose identity cannot be read makes a read unavailable', async () => {
    const { orders, keys, close } = openSqliteStores({ dataDir }, 'server')
    hide('orders.db')
    hide('keys.db')
    const errors = await Promise.all(
      [orders.get('acc_1', 'ord_1'), keys.find('d1')].map((call) => call.catch((error) => error)),
    )
    await close()
    for (const error of errors) expect(error).toBeInstanceOf(Unavailable)
    expect(errors).toMatchObject([{ message: reason('orders.db') }, { message: reason('keys.db') }])
  })

  it.each([
    ['server', true],
    ['command', false],
  ] as const)(
    'a file whose identity cannot be read is named by the writer of a %s, and only a server retries',
    async (role, isRetried) => {
      const stores = openSqliteStores({ dataDir }, role)
      hide('orders.db')
      const error: unknown = await stores.openIndex().catch((thrown: unknown) => thrown)
      await stores.close()
      expect(error instanceof Unavailable).toBe(isRetried)
      expect(error).toHaveProperty('message', reason('orders.db'))
    },
  )
})

it('a folder in place of a database is named with the next step', () => {
  mkdirSync(file('any.db'))
  expect(() => openDatabase(file('any.db'), [], 20)).toThrow(
    `cannot open the database ${file('any.db')}: unable to open database file. It is a folder: move`,
  )
})

describe('a full disk', () => {
  const ADVICE = 'database or disk is full. Free space in DATA_DIR'
  const LIMITED = 'PRAGMA max_page_count = 2'
  const GROW = 'CREATE TABLE one (id); CREATE TABLE two (id)'

  it('a full disk during an opening is named with the file and the next step', () => {
    expect(() => openDatabase(file('any.db'), [`${LIMITED}; ${GROW}`], 20)).toThrow(
      `cannot open the database ${file('any.db')}: ${ADVICE}`,
    )
  })

  it('a full disk during a write is named with the file and the next step', () => {
    const migrations = ['CREATE TABLE texts (text)']
    const opened = openDatabase(file('any.db'), migrations, 20)
    const db = guardDatabase(opened, file('any.db'), migrations)
    opened.exec(LIMITED)
    const insert = db.prepare('INSERT INTO texts VALUES (?)')
    const write = () => db.write(() => insert.run('x'.repeat(10_000)))
    expect(write).toThrow(Unavailable)
    expect(write).toThrow(`${file('any.db')}: ${ADVICE}`)
    db.close()
  })
})
