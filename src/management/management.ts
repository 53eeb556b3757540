import type { KeyStore } from '../auth/key-store.ts'
import { type Clock, monotonicClock } from '../lib/clock.ts'
import type { NamedSecrets } from '../lib/secrets/named-secret.ts'
import {
  createWebhookManagement,
  type WebhookManagementOptions,
} from '../webhooks/management/webhook-management.ts'
import { type AuditLog, createAuditLog } from './audit/audit-log.ts'
import { type AuditedWebhooks, createAuditedWebhooks } from './audited-webhooks.ts'
import { createIdempotency, type Idempotency } from './idempotency/idempotency.ts'
import { createOrderSink, type OrderSinkOptions } from './ingestion/create-order-sink.ts'
import { createIngestion, type Ingestion } from './ingestion/ingestion.ts'
import { createKeyManagement, type KeyManagement } from './keys/key-management.ts'
import { createListCursorCodec, type ListCursorCodec } from './list-cursor.ts'
import type { ManagementStores } from './management-stores.ts'
import { createSandboxManagement, type SandboxManagement } from './sandbox/sandbox-management.ts'
import { createSinkWrite } from './sandbox/write-source-orders.ts'
import { createSessions, type Sessions } from './sessions/sessions.ts'

/** The settings of the management of webhooks. */
export type WebhookSettings = Pick<WebhookManagementOptions, 'secrets' | 'allow' | 'retentionMs'>

export interface ManagementOptions
  extends OrderSinkOptions,
    Pick<WebhookManagementOptions, 'webhooks' | 'orders'> {
  keys: KeyStore
  keyPepper: Uint8Array
  cursorSecrets: NamedSecrets
  managementStores: ManagementStores
  webhookSettings: WebhookSettings
  /** Epoch milliseconds. */
  clock: Clock
  /** Milliseconds, for durations; that of the process when absent. */
  monotonic?: Clock
}

/** Everything that an operator or the platform manages. */
export interface Management {
  keys: KeyManagement
  webhooks: AuditedWebhooks
  audit: AuditLog
  sandbox: SandboxManagement
  sessions: Sessions
  idempotency: Idempotency
  ingestion: Ingestion
  stores: ManagementStores
  cursors: ListCursorCodec
  /** Epoch milliseconds. */
  clock: Clock
  /**
   * Waits for the writes in progress, and stops being the writer. Call it after the last request.
   */
  close(): Promise<void>
}

/** Creates the domain behind the management API and the console. */
export function createManagement(options: ManagementOptions): Management {
  const { keys, keyPepper, cursorSecrets, managementStores, clock } = options
  const { monotonic = monotonicClock } = options
  const { webhooks, orders, webhookSettings } = options
  const audit = createAuditLog(managementStores.audit, clock)
  const sink = createOrderSink(options)
  return {
    keys: createKeyManagement({
      keys,
      keyPepper,
      sessions: managementStores.sessions,
      audit,
      clock,
    }),
    webhooks: createAuditedWebhooks(
      createWebhookManagement({ webhooks, orders, ...webhookSettings, clock }),
      audit,
      clock,
    ),
    audit,
    sandbox: createSandboxManagement({
      sandbox: managementStores.sandbox,
      write: createSinkWrite(sink),
      audit,
      clock,
    }),
    sessions: createSessions({
      sessions: managementStores.sessions,
      keys,
      audit,
      clock,
      monotonic,
    }),
    idempotency: createIdempotency(managementStores.idempotency, clock),
    ingestion: createIngestion(sink),
    stores: managementStores,
    cursors: createListCursorCodec(cursorSecrets),
    clock,
    close: sink.close,
  }
}
