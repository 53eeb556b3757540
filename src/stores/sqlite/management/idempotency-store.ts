import type {
  IdempotencyStore,
  IdempotentRequest,
  RequestClaim,
} from '../../../management/idempotency/idempotency-store.ts'
import type { GuardedDatabase } from '../database/guarded-database.ts'

interface RequestRow {
  id: string
  body_digest: string
  created_at: number
  response_status: number | null
  response_body: string | null
}

/** Requests with an `Idempotency-Key` in an embedded database. */
export function createSqliteIdempotencyStore(db: GuardedDatabase): IdempotencyStore {
  const select = db.prepare(`
    SELECT * FROM idempotent_requests
    WHERE id = ? AND created_at >= iif(response_status IS NULL, ?, ?)`)
  const replace = db.prepare(
    'INSERT OR REPLACE INTO idempotent_requests VALUES (?, ?, ?, NULL, NULL)',
  )
  const claimed =
    'id = ? AND response_status IS NULL AND created_at IN (SELECT value FROM json_each(?))'
  const renew = db.prepare(`UPDATE idempotent_requests SET created_at = ? WHERE ${claimed}`)
  const complete = db.prepare(
    `UPDATE idempotent_requests SET response_status = ?, response_body = ? WHERE ${claimed}`,
  )
  const forget = db.prepare(`DELETE FROM idempotent_requests WHERE ${claimed}`)
  const purge = db.prepare('DELETE FROM idempotent_requests WHERE created_at < ?')

  return {
    async begin({ id, bodyDigest, createdAt }, { inProgress, completed }) {
      return db.write(() => {
        const row = select.get(id, inProgress, completed) as unknown as RequestRow | undefined
        if (row !== undefined) return requestOf(row)
        replace.run(id, bodyDigest, createdAt)
        return null
      })
    },
    async renew(claim, createdAt) {
      db.write(() => renew.run(createdAt, ...parametersOf(claim)))
    },
    async complete(claim, { status, body }) {
      db.write(() => complete.run(status, body, ...parametersOf(claim)))
    },
    async forget(claim) {
      db.write(() => forget.run(...parametersOf(claim)))
    },
    async purge(beforeMs) {
      db.write(() => purge.run(beforeMs))
    },
  }
}

const parametersOf = ({ id, createdAt }: RequestClaim) => [id, JSON.stringify(createdAt)] as const

function requestOf(row: RequestRow): IdempotentRequest {
  const { response_status: status, response_body: body } = row
  return {
    id: row.id,
    bodyDigest: row.body_digest,
    createdAt: row.created_at,
    response: status === null || body === null ? null : { status, body },
  }
}
