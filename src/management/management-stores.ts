import type { AuditStore } from './audit/audit-store.ts'
import type { IdempotencyStore } from './idempotency/idempotency-store.ts'
import type { SandboxStore } from './sandbox/sandbox-store.ts'
import type { SessionStore } from './sessions/session-store.ts'
import type { UsageStore } from './usage/usage-store.ts'

/** The stores of the management API. */
export interface ManagementStores {
  audit: AuditStore
  usage: UsageStore
  sessions: SessionStore
  idempotency: IdempotencyStore
  sandbox: SandboxStore
}
