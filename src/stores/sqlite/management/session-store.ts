import type {
  Capability,
  SessionStore,
  StoredSession,
} from '../../../management/sessions/session-store.ts'
import type { GuardedDatabase } from '../database/guarded-database.ts'

interface SessionRow {
  digest: string
  account_id: string
  subject: string
  capabilities: string
  expires_at: number
}

interface LinkRow extends SessionRow {
  session_ms: number
}

/** Links and sessions of the console in an embedded database. */
export function createSqliteSessionStore(db: GuardedDatabase): SessionStore {
  const insertLink = db.prepare('INSERT INTO session_links VALUES (?, ?, ?, ?, ?, ?)')
  const takeLink = db.prepare('DELETE FROM session_links WHERE digest = ? RETURNING *')
  const insert = db.prepare('INSERT INTO sessions VALUES (?, ?, ?, ?, ?)')
  const select = db.prepare('SELECT * FROM sessions WHERE digest = ?')
  const remove = db.prepare('DELETE FROM sessions WHERE digest = ?')
  const deletions = (condition: string) =>
    ['session_links', 'sessions'].map((table) =>
      db.prepare(`DELETE FROM ${table} WHERE ${condition}`),
    )
  const removals = deletions('account_id = ?')
  const purges = deletions('expires_at < ?')

  return {
    async insertLink(link) {
      db.write(() => insertLink.run(...columnsOf(link), link.sessionMs))
    },
    async takeLink(digest) {
      const row = db.write(() => takeLink.get(digest)) as unknown as LinkRow | undefined
      return row ? { ...sessionOf(row), sessionMs: row.session_ms } : null
    },
    async insert(session) {
      db.write(() => insert.run(...columnsOf(session)))
    },
    async find(digest) {
      const row = db.run(() => select.get(digest)) as unknown as SessionRow | undefined
      return row ? sessionOf(row) : null
    },
    async remove(digest) {
      db.write(() => remove.run(digest))
    },
    async removeOf(accountId) {
      db.write(() => {
        for (const removal of removals) removal.run(accountId)
      })
    },
    async purge(beforeMs) {
      db.write(() => {
        for (const purge of purges) purge.run(beforeMs)
      })
    },
  }
}

function columnsOf({ digest, accountId, subject, capabilities, expiresAt }: StoredSession) {
  return [digest, accountId, subject, capabilities.join(' '), expiresAt] as const
}

function sessionOf(row: SessionRow): StoredSession {
  return {
    digest: row.digest,
    accountId: row.account_id,
    subject: row.subject,
    capabilities: row.capabilities.split(' ').filter(Boolean) as Capability[],
    expiresAt: row.expires_at,
  }
}
