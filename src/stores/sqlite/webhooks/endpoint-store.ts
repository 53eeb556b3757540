import type { Endpoint } from '../../../webhooks/endpoints/endpoint.ts'
import type { EndpointCounts, EndpointStore } from '../../../webhooks/endpoints/endpoint-store.ts'
import type { GuardedDatabase } from '../database/guarded-database.ts'
import { endpointOf, endpointParams } from './endpoint-row.ts'

/**
 * Endpoints in an embedded database. Write transactions run one after another, so revisions are
 * visible in their order, and a reader of `changes` misses none.
 */
export function createSqliteEndpointStore(db: GuardedDatabase): EndpointStore {
  const selectById = db.prepare('SELECT * FROM endpoints WHERE id = ?')
  const selectByAccount = db.prepare(
    'SELECT * FROM endpoints WHERE account_id = ? AND deleted_at IS NULL ORDER BY created_at, id',
  )
  const selectChanged = db.prepare('SELECT * FROM endpoints WHERE revision > ? ORDER BY revision')
  const selectCounts = db.prepare(`
    SELECT
      count(*) FILTER (WHERE disabled_reason IS NULL AND failing_since IS NULL) AS enabled,
      count(*) FILTER (WHERE disabled_reason IS NULL AND failing_since IS NOT NULL) AS failing,
      count(*) FILTER (WHERE disabled_reason IS NOT NULL) AS disabled
    FROM endpoints WHERE deleted_at IS NULL`)
  const nextRevision = db.prepare('UPDATE endpoint_revision SET last = last + 1 RETURNING last')
  const insert = db.prepare(`
    INSERT INTO endpoints (
      id, account_id, url, events, payload, description, disabled_reason, created_at, starts_at,
      secret, previous_secret, failing_since, last_success_at, is_breaker_open, notices_sent,
      deleted_at, revision)
    VALUES (
      $id, $accountId, $url, $events, $payload, $description, $disabledReason, $createdAt, $startsAt,
      $secret, $previousSecret, $failingSince, $lastSuccessAt, $isBreakerOpen, $noticesSent,
      $deletedAt, $revision)`)
  const update = db.prepare(`
    UPDATE endpoints SET
      account_id = $accountId, url = $url, events = $events, payload = $payload,
      description = $description, disabled_reason = $disabledReason, created_at = $createdAt,
      starts_at = $startsAt, secret = $secret, previous_secret = $previousSecret,
      failing_since = $failingSince, last_success_at = $lastSuccessAt,
      is_breaker_open = $isBreakerOpen, notices_sent = $noticesSent, deleted_at = $deletedAt,
      revision = $revision
    WHERE id = $id`)
  const deleteMarkers = db.prepare('DELETE FROM endpoints WHERE deleted_at < ?')

  const revised = (endpoint: Endpoint) => ({
    ...endpointParams(endpoint),
    revision: Number(nextRevision.get()?.['last']),
  })

  function find(id: string): Endpoint | null {
    const row = selectById.get(id)
    return row ? endpointOf(row) : null
  }

  function findKept(id: string): Endpoint | null {
    const found = find(id)
    return found?.deletedAt === null ? found : null
  }

  return {
    async insert(endpoint) {
      db.write(() => insert.run(revised(endpoint)))
    },
    async find(id) {
      return db.run(() => find(id))
    },
    async byId(id) {
      return db.run(() => findKept(id))
    },
    async list(accountId) {
      return db.run(() => selectByAccount.all(accountId)).map(endpointOf)
    },
    async update(id, change) {
      return db.write(() => {
        const before = findKept(id)
        const after = before && change(before)
        if (after) update.run(revised(after))
        return after
      })
    },
    async changes(token) {
      const rows = db.run(() => selectChanged.all(Number(token)))
      const last = rows.at(-1)?.['revision'] ?? token ?? 0
      return { endpoints: rows.map(endpointOf), token: String(last) }
    },
    async counts() {
      return { ...(db.run(() => selectCounts.get()) as unknown as EndpointCounts) }
    },
    async purgeDeleted(beforeMs) {
      db.write(() => deleteMarkers.run(beforeMs))
    },
  }
}
