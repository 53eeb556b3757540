import { join } from 'node:path'
import type { Config } from '../../../config/config.ts'
import type { ManagementStores } from '../../../management/management-stores.ts'
import type { ProcessRole } from '../../stores.ts'
import { BUSY_MS, openDatabase } from '../database/database.ts'
import { guardDatabase } from '../database/guarded-database.ts'
import { createSqliteAuditStore } from './audit-store.ts'
import { createSqliteIdempotencyStore } from './idempotency-store.ts'
import { createSqliteSandboxStore } from './sandbox-store.ts'
import { managementMigrations } from './schema.ts'
import { createSqliteSessionStore } from './session-store.ts'
import { createSqliteUsageStore } from './usage-store.ts'

/** The path of the database of the management API. */
export const managementFile = (dataDir: string) => join(dataDir, 'management.db')

/**
 * The embedded stores of the management API, in a file of their own, which is created if missing.
 */
export function openSqliteManagementStores(
  { dataDir }: Pick<Config, 'dataDir'>,
  role: ProcessRole,
): ManagementStores & { close(): void } {
  const file = managementFile(dataDir)
  const opened = openDatabase(file, managementMigrations, BUSY_MS[role])
  const db = guardDatabase(opened, file, managementMigrations)
  return {
    audit: createSqliteAuditStore(db),
    usage: createSqliteUsageStore(db),
    sessions: createSqliteSessionStore(db),
    idempotency: createSqliteIdempotencyStore(db),
    sandbox: createSqliteSandboxStore(db),
    close: db.close,
  }
}
