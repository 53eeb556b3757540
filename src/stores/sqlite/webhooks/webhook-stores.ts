import { join } from 'node:path'
import type { Config } from '../../../config/config.ts'
import type { WebhookStores } from '../../../webhooks/webhook-stores.ts'
import type { ProcessRole } from '../../stores.ts'
import { BUSY_MS, openDatabase } from '../database/database.ts'
import { openOrdersUnlessLost, ordersFile } from '../database/database-files.ts'
import type { TrackedFile } from '../database/file-guard.ts'
import { type GuardedDatabase, guardDatabase } from '../database/guarded-database.ts'
import { ordersMigrations } from '../database/schema.ts'
import { createSqliteDeliveryStore } from './delivery-store.ts'
import { createSqliteDispatcherLease } from './dispatcher-lease.ts'
import { createSqliteEndpointStore } from './endpoint-store.ts'
import { createSqliteEventFeed } from './event-feed.ts'
import { prepareDeliveryInsert } from './insert-deliveries.ts'
import { webhooksMigrations } from './schema.ts'

/** The path of the database of endpoints and deliveries. */
export const webhooksFile = (dataDir: string) => join(dataDir, 'webhooks.db')

type Synchronous = 'FULL' | 'NORMAL'

/**
 * How writes are synced that can be repeated. `NORMAL`: the server syncs them at checkpoints only,
 * since a sync for each batch of attempts would dominate their cost. A power failure then loses the
 * last batches as a whole: fan-out repeats them, and an attempt is repeated under the same
 * `webhook-id`. A killed process loses nothing. An operator's command is durable when it ends.
 */
const REPEATABLE = { server: 'NORMAL', command: 'FULL' } as const satisfies Record<
  ProcessRole,
  Synchronous
>

/** Each checkpoint blocks the event loop for its syncs. A longer log has fewer, of 16 MB. */
const CHECKPOINT_PAGES = 4_000
/** Random ids touch pages all over their indexes; the default of 2 MB holds too few. */
const CACHE_KIB = 16_000

/**
 * The embedded stores of webhooks. Endpoints and deliveries have a file of their own, so a delivery
 * never waits for the write lock that a load holds on the orders. Without that file there are no
 * endpoints, and the file is created anew. `ordersState`: that of `orders.db`, where this process
 * has other connections to it.
 * @throws IndexLost when the orders are lost
 */
export function openSqliteWebhookStores(
  { dataDir }: Pick<Config, 'dataDir'>,
  role: ProcessRole,
  ordersState?: TrackedFile,
): WebhookStores & { close(): Promise<void> } {
  const orders = openEventRecords(dataDir, role, ordersState)
  const endpoints = openWebhooksDatabase(dataDir, role, 'FULL')
  const deliveries = openWebhooksDatabase(dataDir, role, REPEATABLE[role])
  const insertDeliveries = prepareDeliveryInsert(deliveries)
  return {
    endpoints: createSqliteEndpointStore(endpoints),
    deliveries: createSqliteDeliveryStore(deliveries, insertDeliveries),
    events: createSqliteEventFeed({ orders, webhooks: deliveries, insertDeliveries }),
    ...createSqliteDispatcherLease(join(dataDir, 'webhooks.lock'), endpoints),
    async close() {
      for (const db of [orders, endpoints, deliveries]) db.close()
    },
  }
}

/** Opens the database of endpoints and deliveries, and creates it if it is missing. */
export function openWebhooksDatabase(
  dataDir: string,
  role: ProcessRole,
  synchronous: Synchronous,
): GuardedDatabase {
  const file = webhooksFile(dataDir)
  const db = openDatabase(file, webhooksMigrations, BUSY_MS[role])
  db.exec(
    `PRAGMA synchronous = ${synchronous}; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA cache_size = -${CACHE_KIB}`,
  )
  return guardDatabase(db, file, webhooksMigrations)
}

/**
 * Only purges write here. They neither wait for a load nor checkpoint its log, which the writer of
 * orders does.
 */
function openEventRecords(
  dataDir: string,
  role: ProcessRole,
  state: TrackedFile | undefined,
): GuardedDatabase {
  const db = openOrdersUnlessLost(dataDir)
  db.exec(
    `PRAGMA busy_timeout = 0; PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = ${REPEATABLE[role]}`,
  )
  return guardDatabase(db, ordersFile(dataDir), ordersMigrations, state)
}
