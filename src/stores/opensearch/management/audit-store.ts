import { sandboxOf } from '../../../auth/account-ids.ts'
import { Unavailable } from '../../../lib/errors/unavailable.ts'
import type { AuditEntry } from '../../../management/audit/audit-entry.ts'
import type { AuditStore } from '../../../management/audit/audit-store.ts'
import { sendWrites } from '../client/bulk/send-writes.ts'
import { type IndexTarget, refreshIndex, searchHits } from '../client/search/document-search.ts'
import { storedObject } from './stored-object.ts'

/** The document of an entry; its id is that of the entry. */
interface AuditSource {
  at: number
  id: string
  account_id: string
  entry: AuditEntry
  outcome: AuditEntry['outcome']
}

const FIELDS = ['id', 'at', 'actor', 'action', 'accountId', 'target', 'requestId'] as const

const ofAccount = (accountId: string) => ({
  terms: { account_id: [accountId, sandboxOf(accountId)] },
})

/** The audit log in a cluster. A list refreshes the index, so it sees every earlier entry. */
export function createOpenSearchAuditStore(target: IndexTarget): AuditStore {
  return {
    async insert(entry) {
      const { at, id, accountId, outcome } = entry
      const source: AuditSource = { at, id, account_id: accountId, outcome, entry }
      const [state] = await sendWrites(target, [{ action: { create: { _id: id } }, source }])
      // A repeated request after a lost response finds its own entry.
      if (state === 'missing') throw new Unavailable(`OpenSearch did not store the entry ${id}`)
    },
    async setOutcome(id, outcome) {
      await sendWrites(target, [{ action: { update: { _id: id } }, source: { doc: { outcome } } }])
    },
    async list({ accountId, limit, after }) {
      await refreshIndex(target)
      const filter = accountId === undefined ? [] : [ofAccount(accountId)]
      const hits = await searchHits(target, {
        size: limit,
        query: { bool: { filter } },
        sort: [{ at: 'desc' }, { id: 'desc' }],
        ...(after !== null && { search_after: [after.at, after.id] }),
      })
      return hits.map((hit) => {
        const entry = storedObject<AuditEntry>(target, hit, 'entry', FIELDS)
        return { ...entry, outcome: (hit.source as AuditSource).outcome }
      })
    },
  }
}
