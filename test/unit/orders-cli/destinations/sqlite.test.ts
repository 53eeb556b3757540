import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Order } from '../../../../src/client/client.ts'
import { openSqliteStore } from '../../../../src/orders-cli/destinations/sqlite.ts'
import { syncHelp } from '../../../../src/orders-cli/help.ts'
import { itemColumns, orderColumns } from '../../../../src/orders-cli/order-columns.ts'
import { apiItem, apiOrder } from '../../../support/orders-cli/api-order.ts'
import { syncState } from '../../../support/orders-cli/sync-state.ts'
import { createTestFolder } from '../../../support/stores/test-folder.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = createTestFolder()
  file = join(folder, 'copy.db')
})

const state = syncState()

async function saveOrders(orders: readonly Order[]) {
  const copy = await openSqliteStore(file)
  await copy.save(orders, state)
  await copy.close()
}

/** The queries of the guide's chapter on the command. */
function guideQueries(): string[] {
  const chapter = new URL('../../../../openapi/guide/12-comando-orders.md', import.meta.url)
  const [, sql = ''] = /```sql\n(.*?)```/s.exec(readFileSync(chapter, 'utf8')) ?? []
  return sql.split(';').flatMap((one) => (one.trim() === '' ? [] : [one.trim()]))
}

/** The query in the help of `orders sync`. */
const helpQuery = () => /"(select [^"]*)"/.exec(syncHelp)?.[1] ?? ''

/** The rows of a query. */
function query(sql: string) {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    return db
      .prepare(sql)
      .all()
      .map((row) => ({ ...row }))
  } finally {
    db.close()
  }
}

/** Changes the file as another program would. */
function execute(sql: string): void {
  const db = new DatabaseSync(file)
  db.exec(sql)
  db.close()
}

/** Reads the orders in a transaction, and returns the function that ends it. */
function startReading() {
  const reader = new DatabaseSync(file, { readOnly: true })
  reader.exec('BEGIN; SELECT count(*) FROM orders')
  return () => reader.close()
}

describe('the database of a store', () => {
  it('the database of a store has columns for the common fields', async () => {
    await saveOrders([apiOrder({ amount_total: -1 })])
    const sql =
      'SELECT id, status, amount_total, customer_email, payment_method, updated_at FROM orders'
    expect(query(sql)).toEqual([
      {
        id: 'ord_1',
        status: 'PAID',
        amount_total: -1,
        customer_email: 'ana@exemplo.com.br',
        payment_method: 'PIX',
        updated_at: null,
      },
    ])
  })

  it('the database of a store has a view of the products', async () => {
    await saveOrders([
      apiOrder({ items: [apiItem(), apiItem({ name: 'Apostila' })] }),
      apiOrder({ id: 'ord_2', items: [] }),
    ])
    expect(query('SELECT order_id, number, name, sub_total FROM items ORDER BY number')).toEqual([
      { order_id: 'ord_1', number: 1, name: 'Curso de violão', sub_total: 9900 },
      { order_id: 'ord_1', number: 2, name: 'Apostila', sub_total: 9900 },
    ])
  })

  it('the database of a store has texts in UTF-8 only, also of half an emoji', async () => {
    const customer = { ...apiOrder().customer, name: 'Ana \ud83d' }
    await saveOrders([apiOrder({ customer, tracking: { 'src\udf00': '🎸' } })])
    const [row] = query('SELECT hex(customer_name) AS name, json FROM orders')
    expect(Buffer.from(String(row?.['name']), 'hex')).toEqual(Buffer.from('Ana \ufffd'))
    expect(JSON.parse(String(row?.['json'])).tracking).toEqual({ 'src\ufffd': '🎸' })
  })

  it('the database of a store has a view of every field with its type', async () => {
    await saveOrders([apiOrder({ metadata: { currency_rate: 5.4321 } })])
    const types = query("SELECT name, type FROM pragma_table_info('orders_typed')")
    expect(types.map(({ name }) => name)).toEqual(
      Object.keys(orderColumns).map((path) => path.replaceAll('.', '_')),
    )
    expect(types).toContainEqual({ name: 'payment_amount', type: 'INT' })
    const sql = `SELECT typeof(id) AS id, typeof(amount_total) AS amount, typeof(paid_at) AS paid,
      typeof(payment_installments) AS installments, typeof(metadata_currency_rate) AS rate FROM orders_typed`
    expect(query(sql)).toEqual([
      { id: 'text', amount: 'integer', paid: 'null', installments: 'integer', rate: 'real' },
    ])
  })

  it('the database of a store has a view of every field of a product', async () => {
    await saveOrders([apiOrder()])
    const columns = query("SELECT name FROM pragma_table_info('items')")
    expect(columns.map(({ name }) => name)).toEqual([
      ...['order_id', 'number'],
      ...Object.keys(itemColumns).map((path) => path.replaceAll('.', '_')),
    ])
  })

  it.each([
    ['orders_typed', 'SELECT id, status FROM orders_typed', { id: 'ord_1', status: 'PAID' }],
    ['items', 'SELECT order_id, quantity FROM items', { order_id: 'ord_1', quantity: 2 }],
  ])(
    'the database of an earlier version gets the view %s, also in place of an outdated one',
    async (view, sql, row) => {
      await saveOrders([apiOrder()])
      for (const outdated of ['', `CREATE VIEW ${view} AS SELECT 1 AS one`]) {
        execute(`DROP VIEW ${view}; ${outdated}`)
        await saveOrders([])
        expect(query(sql)).toEqual([row])
      }
    },
  )

  it.each(guideQueries())('the guide’s query %j runs on the database of a store', async (sql) => {
    await saveOrders([apiOrder({ paid_at: '2026-03-01T02:04:10.123Z' })])
    expect(query(sql)).toHaveLength(1)
  })

  it('the guide sums amounts in reais, and the help by currency', async () => {
    const paid = { paid_at: '2026-03-01T12:04:10.123Z' }
    await saveOrders([
      apiOrder({ ...paid, amount_total: 9900, amount_in_brl: null }),
      apiOrder({ id: 'ord_2', ...paid, currency: 'USD', amount_total: 1000, amount_in_brl: 5400 }),
      apiOrder({ id: 'ord_3', ...paid, currency: 'USD', amount_total: 700, amount_in_brl: null }),
      apiOrder({ id: 'ord_4', ...paid, currency: null, amount_total: 100, amount_in_brl: null }),
    ])
    expect(query(guideQueries()[0] ?? '')).toMatchObject([{ pedidos: 4, total: 154 }])
    expect(query(helpQuery()).map(Object.values)).toEqual([
      ['OWNER', 'PAID', 'BRL', 100],
      ['OWNER', 'PAID', 'USD', 17],
    ])
  })

  it('the guide sums only the orders that the account owns, and the help sums co-produced ones apart', async () => {
    const paid = { paid_at: '2026-03-01T12:04:10.123Z' }
    await saveOrders([
      apiOrder(paid),
      apiOrder({ id: 'ord_2', ...paid, role: 'COPRODUCER', amount_total: 500 }),
    ])
    const [byMonth = '', byProduct = ''] = guideQueries()
    expect(query(byMonth)).toMatchObject([{ pedidos: 1, total: 99 }])
    expect(query(byProduct)).toMatchObject([{ vendidos: 2, total: 99 }])
    expect(query(helpQuery()).map(Object.values)).toEqual([
      ['COPRODUCER', 'PAID', 'BRL', 5],
      ['OWNER', 'PAID', 'BRL', 99],
    ])
  })

  it('the database of a store can be read during a write', async () => {
    await saveOrders([apiOrder()])
    const copy = await openSqliteStore(file)
    const reader = new DatabaseSync(file, { readOnly: true })
    reader.exec('BEGIN')
    const count = () => reader.prepare('SELECT count(*) AS n FROM orders').get()?.['n']
    expect(count()).toBe(1)
    await copy.save([apiOrder({ id: 'ord_2' })], state)
    expect(count()).toBe(1)
    reader.exec('COMMIT')
    expect(count()).toBe(2)
    reader.close()
    await copy.close()
  })

  it('saves no order of a page if one of them fails', async () => {
    const copy = await openSqliteStore(file)
    const broken = { ...apiOrder({ id: 'ord_2' }), id: undefined } as unknown as Order
    await expect(copy.save([apiOrder(), broken], state)).rejects.toThrow()
    expect(await copy.read()).toBeNull()
    expect(copy.changes()).toBe(0)
    await copy.close()
    expect(query('SELECT id FROM orders')).toEqual([])
  })

  it('the database of a store is readable by its owner only', async () => {
    await saveOrders([apiOrder()])
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
  })

  it('the lock of a database that a link names has the name of the file, also before it exists', async () => {
    mkdirSync(join(folder, 'disk'))
    symlinkSync(join('disk', 'copy.db'), file)
    const lockNames = () => readdirSync(join(folder, 'disk')).filter((name) => /lock-/.test(name))
    const first = await openSqliteStore(file)
    const before = lockNames()
    await first.close()
    const second = await openSqliteStore(file)
    expect(before).toEqual([expect.stringMatching(/^copy\.db\.lock-/)])
    expect(lockNames()).toEqual(before)
    await second.close()
  })

  it('the database of a store may start as an empty file', async () => {
    writeFileSync(file, '')
    await saveOrders([apiOrder()])
    expect(query('SELECT id FROM orders')).toHaveLength(1)
  })
})

describe('a deleted order', () => {
  const email = 'apagada@exemplo.com.br'
  const erased = Array.from({ length: 100 }, (_, number) =>
    apiOrder({ id: `ord_${number}`, customer: { ...apiOrder().customer, email } }),
  )
  const next = { ...state, pass: { ...state.pass, number: 2 } }
  const texts = () => [file, `${file}-wal`].map((path) => readFileSync(path, 'latin1')).join()

  it('a deleted order is in neither the file nor its log, also while the store is open', async () => {
    const copy = await openSqliteStore(file)
    await copy.save(erased, state)
    expect(texts()).toContain(email)
    await copy.save([apiOrder({ id: 'ord_other' })], next)
    expect(await copy.deleteUnseen(2)).toBe(100)
    expect(texts()).not.toContain(email)
    await copy.close()
  })

  it('a deleted order leaves the log at the first save after a reader has ended', async () => {
    const copy = await openSqliteStore(file)
    await copy.save(erased, state)
    const endReading = startReading()
    await copy.save([apiOrder({ id: 'ord_other' })], next)
    await copy.deleteUnseen(2)
    expect(texts()).toContain(email)
    endReading()
    await copy.save([], next)
    expect(texts()).not.toContain(email)
    await copy.close()
  })

  it('a deleted order leaves the log of an earlier process at the first save', async () => {
    await saveOrders(erased)
    const earlier = await openSqliteStore(file)
    const endReading = startReading()
    await earlier.deleteUnseen(2)
    await earlier.close()
    endReading()
    const copy = await openSqliteStore(file)
    await copy.save([], next)
    expect(texts()).not.toContain(email)
    await copy.close()
  })

  it('a deleted order leaves the file of an earlier version by the statement of the help', async () => {
    await saveOrders(erased)
    const [, statement = ''] = /^ {2}sqlite3 \S+ ([A-Z]+)$/m.exec(syncHelp) ?? []
    execute(`PRAGMA secure_delete = OFF; DELETE FROM orders; ${statement}`)
    expect(readFileSync(file, 'latin1')).not.toContain(email)
  })
})

describe('a database that is deleted or replaced while its store is open', () => {
  const ids = () => query('SELECT id FROM orders').map(({ id }) => id)

  it.each<[string, () => void]>([
    ['deleted', () => rmSync(file)],
    ['replaced', () => renameSync(`${file}.backup`, file)],
  ])('is reported by each method when it is %s', async (_what, change) => {
    await saveOrders([apiOrder()])
    copyFileSync(file, `${file}.backup`)
    const copy = await openSqliteStore(file, 'copy.db')
    change()
    const message = 'copy.db foi apagado, movido ou trocado durante a sincronização'
    await expect(copy.save([apiOrder({ id: 'ord_2' })], state)).rejects.toThrow(message)
    await expect(copy.deleteUnseen(2)).rejects.toThrow(message)
    await expect(copy.read()).rejects.toThrow(message)
    await copy.close()
  })

  it('a backup in its place has the orders of the backup, and the next store opens it', async () => {
    await saveOrders([apiOrder()])
    copyFileSync(file, `${file}.backup`)
    const copy = await openSqliteStore(file)
    await copy.save([apiOrder({ id: 'ord_2' })], state)
    renameSync(`${file}.backup`, file)
    await expect(copy.save([], state)).rejects.toThrow()
    await copy.close()
    expect(ids()).toEqual(['ord_1'])
    await saveOrders([apiOrder({ id: 'ord_3' })])
    expect(ids()).toEqual(['ord_1', 'ord_3'])
  })

  it('a backup in its place is intact once the log that a reader keeps is deleted', async () => {
    await saveOrders([apiOrder()])
    copyFileSync(file, `${file}.backup`)
    const copy = await openSqliteStore(file)
    const endReading = startReading()
    await copy.save([apiOrder({ id: 'ord_2' })], state)
    renameSync(`${file}.backup`, file)
    await expect(copy.save([], state)).rejects.toThrow(
      `feche os programas que leem o banco, apague ${file}-wal, que é do arquivo anterior (se moveu o banco, mova-o junto), e sincronize de novo.`,
    )
    await copy.close()
    endReading()
    rmSync(`${file}-wal`)
    await saveOrders([apiOrder({ id: 'ord_3' })])
    expect(ids()).toEqual(['ord_1', 'ord_3'])
  })

  it('a database that was moved with its folder is reported by a read with that folder', async () => {
    file = join(folder, 'moved', 'copy.db')
    mkdirSync(dirname(file))
    const copy = await openSqliteStore(file)
    renameSync(dirname(file), `${dirname(file)}.earlier`)
    await expect(copy.read()).rejects.toThrow(`A pasta ${dirname(file)} foi apagada ou movida.`)
    await copy.close()
  })
})

describe('a rejected file', () => {
  const database = (sql: string) => () => execute(sql)
  it.each<[string, () => void, RegExp]>([
    [
      'that is not a database',
      () => writeFileSync(file, 'id;status\r\n1;PAID\r\n'),
      /não é um banco SQLite/,
    ],
    ['that is short', () => writeFileSync(file, 'x'), /não é um banco SQLite/],
    ['of another program', database('CREATE TABLE fotos (id)'), /de outro programa/],
    [
      'of a program with an application id of its own',
      database('PRAGMA application_id = 5'),
      /de outro programa/,
    ],
    [
      'of a newer version',
      database(
        'PRAGMA application_id = 0x6f726473; PRAGMA user_version = 2; CREATE TABLE orders (id)',
      ),
      /versão mais nova/,
    ],
  ])('a file %s is rejected and stays unchanged', async (_what, prepare, message) => {
    prepare()
    const before = readFileSync(file)
    await expect(openSqliteStore(file)).rejects.toThrow(message)
    expect(readFileSync(file).equals(before)).toBe(true)
  })
})
