import type { SandboxOrder, SandboxStore } from '../../../management/sandbox/sandbox-store.ts'
import type { GuardedDatabase } from '../database/guarded-database.ts'

interface SandboxRow {
  account_id: string
  order_id: string
  scenario: string
  made_at: number
  version: number
  source: string
  last_request_id: string | null
  last_request_at: number | null
}

/** Before the first order of a list. */
const FIRST = { madeAt: Number.MAX_SAFE_INTEGER, orderId: '' }

/** The source orders of sandboxes in an embedded database. */
export function createSqliteSandboxStore(db: GuardedDatabase): SandboxStore {
  const insert = db.prepare('INSERT INTO sandbox_orders VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
  const select = db.prepare('SELECT * FROM sandbox_orders WHERE account_id = ? AND order_id = ?')
  const update = db.prepare(`
    UPDATE sandbox_orders SET version = ?, source = ?, last_request_id = ?, last_request_at = ?
    WHERE account_id = ? AND order_id = ? AND version = ?`)
  const count = db.prepare(`
    SELECT count(*) AS kept FROM sandbox_orders INDEXED BY sandbox_orders_kept
    WHERE account_id = ? AND json_extract(source, '$.deleted') IS NULL`)
  const selectPage = db.prepare(`
    SELECT * FROM sandbox_orders WHERE account_id = ? AND (made_at, order_id) < (?, ?)
    ORDER BY made_at DESC, order_id DESC LIMIT ?`)

  return {
    async insert(order) {
      const { accountId, orderId, scenario, madeAt, source } = order
      const row = [accountId, orderId, scenario, madeAt, source.version, JSON.stringify(source)]
      db.write(() => insert.run(...row, ...requestOf(order)))
    },
    async find(accountId, orderId) {
      const row = db.run(() => select.get(accountId, orderId))
      return row === undefined ? null : orderOf(row as unknown as SandboxRow)
    },
    async replace(order) {
      const { accountId, orderId, source } = order
      const set = [source.version, JSON.stringify(source), ...requestOf(order)]
      const { changes } = db.write(() => update.run(...set, accountId, orderId, source.version - 1))
      return changes === 1
    },
    async count(accountId) {
      return Number(db.run(() => count.get(accountId))?.['kept'])
    },
    async list({ accountId, limit, after }) {
      const { madeAt, orderId } = after ?? FIRST
      const rows = db.run(() => selectPage.all(accountId, madeAt, orderId, limit))
      return (rows as unknown as SandboxRow[]).map(orderOf)
    },
  }
}

const requestOf = ({ lastRequest }: SandboxOrder) => [
  lastRequest?.id ?? null,
  lastRequest?.at ?? null,
]

function orderOf(row: SandboxRow): SandboxOrder {
  const { last_request_id: id, last_request_at: at } = row
  return {
    accountId: row.account_id,
    orderId: row.order_id,
    scenario: row.scenario,
    madeAt: row.made_at,
    source: JSON.parse(row.source),
    ...(id !== null && at !== null && { lastRequest: { id, at } }),
  }
}
