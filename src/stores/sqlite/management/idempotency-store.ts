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

  function claimOf({ id, createdAt }: IdempotentRequest): RequestClaim {
    // Earlier ones stay: a renewal that failed may be stored, or not.
    const instants = [createdAt]
    const key = () => [id, JSON.stringify(instants)] as const
    return {
      async renew(renewedAt) {
        instants.push(renewedAt)
        db.write(() => renew.run(renewedAt, ...key()))
      },
      async complete({ status, body }) {
        db.write(() => complete.run(status, body, ...key()))
      },
      async forget() {
        db.write(() => forget.run(...key()))
      },
    }
  }

  return {
    async begin(request, { inProgress, completed }) {
      const { id, bodyDigest, createdAt } = request
      return db.write(() => {
        const row = select.get(id, inProgress, completed) as unknown as RequestRow | undefined
        if (row !== undefined) return { found: requestOf(row) }
        replace.run(id, bodyDigest, createdAt)
        return { claim: claimOf(request) }
      })
    },
    async purge(beforeMs) {
      db.write(() => purge.run(beforeMs))
    },
  }
}

function requestOf(row: RequestRow): IdempotentRequest {
  const { response_status: status, response_body: body } = row
  return {
    id: row.id,
    bodyDigest: row.body_digest,
    createdAt: row.created_at,
    response: status === null || body === null ? null : { status, body },
  }
}
