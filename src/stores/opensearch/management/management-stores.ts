import type { ManagementStores } from '../../../management/management-stores.ts'
import type { OpenSearch } from '../client/client.ts'
import type { EnsureIndices } from '../indices/ensure-indices.ts'
import type { IndexNames } from '../indices/index-names.ts'
import { withPreparation } from '../indices/with-preparation.ts'
import { createOpenSearchAuditStore } from './audit-store.ts'
import { createOpenSearchIdempotencyStore } from './idempotency-store.ts'
import { createOpenSearchSandboxStore } from './sandbox-store.ts'
import { createOpenSearchSessionStore } from './session-store.ts'
import { createOpenSearchUsageStore } from './usage-store.ts'

export interface OpenSearchManagementStoresOptions {
  client: OpenSearch
  names: IndexNames
  ensureIndices: Pick<EnsureIndices, 'management'>
  /** For each request, in milliseconds. */
  deadlineMs: number
  /** The same for the read of a session, with which each call of the console begins. */
  sessionDeadlineMs: number
}

/** The stores of the management API in a cluster. The first call creates the missing indices. */
export function createOpenSearchManagementStores({
  client,
  names,
  ensureIndices,
  deadlineMs,
  sessionDeadlineMs,
}: OpenSearchManagementStoresOptions): ManagementStores {
  const targetOf = (index: string) => ({ client, index, deadlineMs })
  const prepare = ensureIndices.management
  const sessions = createOpenSearchSessionStore(targetOf(names.sessions), sessionDeadlineMs)
  return {
    audit: withPreparation(createOpenSearchAuditStore(targetOf(names.audit)), prepare),
    usage: withPreparation(createOpenSearchUsageStore(targetOf(names.usage)), prepare),
    sessions: withPreparation(sessions, prepare),
    idempotency: withPreparation(
      createOpenSearchIdempotencyStore(targetOf(names.idempotentRequests)),
      prepare,
    ),
    sandbox: withPreparation(createOpenSearchSandboxStore(targetOf(names.sandboxOrders)), prepare),
  }
}
