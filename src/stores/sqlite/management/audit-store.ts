import { sandboxOf } from '../../../auth/account-ids.ts'
import type {
  AuditAction,
  AuditEntry,
  AuditOutcome,
} from '../../../management/audit/audit-entry.ts'
import type { AuditStore } from '../../../management/audit/audit-store.ts'
import type { GuardedDatabase } from '../database/guarded-database.ts'

interface AuditRow {
  id: string
  at: number
  actor: string
  account_id: string
  action: AuditAction
  target: string
  request_id: string | null
  outcome: AuditOutcome
  successor: string | null
}

/** Before the first entry of a list. */
const FIRST = { at: Number.MAX_SAFE_INTEGER, id: '' }

/** The audit log in an embedded database. */
export function createSqliteAuditStore(db: GuardedDatabase): AuditStore {
  const insert = db.prepare('INSERT INTO audit_entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const setOutcome = db.prepare('UPDATE audit_entries SET outcome = ? WHERE id = ?')
  const select = db.prepare(
    'SELECT * FROM audit_entries WHERE (at, id) < (?, ?) ORDER BY at DESC, id DESC LIMIT ?',
  )
  // A union merges two walks of the index by account. `IN` would sort all entries of the account.
  const ofAccount = 'SELECT * FROM audit_entries WHERE account_id = ? AND (at, id) < (?, ?)'
  const selectOfAccount = db.prepare(
    `${ofAccount} UNION ALL ${ofAccount} ORDER BY at DESC, id DESC LIMIT ?`,
  )

  return {
    async insert(entry) {
      const { id, at, actor, accountId, action, target, requestId, outcome } = entry
      const row = [id, at, actor, accountId, action, target, requestId, outcome]
      db.write(() => insert.run(...row, entry.successor ?? null))
    },
    async setOutcome(id, outcome) {
      db.write(() => setOutcome.run(outcome, id))
    },
    async list({ accountId, limit, after }) {
      const { at, id } = after ?? FIRST
      const rows = db.run(() =>
        accountId === undefined
          ? select.all(at, id, limit)
          : selectOfAccount.all(accountId, at, id, sandboxOf(accountId), at, id, limit),
      )
      return (rows as unknown as AuditRow[]).map(entryOf)
    },
  }
}

function entryOf(row: AuditRow): AuditEntry {
  const { id, at, actor, action, target, outcome, successor } = row
  return {
    ...{ id, at, actor, action, target, outcome },
    accountId: row.account_id,
    requestId: row.request_id,
    ...(successor !== null && { successor }),
  }
}
