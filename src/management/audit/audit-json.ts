import { liveAccountOf } from '../../auth/account-ids.ts'
import { formatInstant } from '../../lib/instant.ts'
import type { AuditEntry } from './audit-entry.ts'

/** An entry, as the API returns it and the command prints it. */
export function auditEntryJson(entry: AuditEntry) {
  return {
    object: 'audit_entry',
    id: entry.id,
    at: formatInstant(entry.at),
    actor: entry.actor,
    action: entry.action,
    account_id: liveAccountOf(entry.accountId),
    target: entry.target,
    successor: entry.successor ?? null,
    request_id: entry.requestId,
    outcome: entry.outcome,
  } as const
}
