import { join } from 'node:path'
import type { Config } from '../../config/config.ts'
import type { OrderIndex } from '../../indexing/writer/order-index.ts'
import { type Clock, monotonicClock, wallClock } from '../../lib/clock.ts'
import { createSubscriberLookup } from '../../webhooks/endpoints/endpoint-directory.ts'
import type { OnWarning, ProcessRole, Stores } from '../stores.ts'
import {
  isMissingOrEmpty,
  keysFile,
  type OpenKeysOptions,
  openKeysUnlessLost,
  openOrdersUnlessLost,
  ordersFile,
} from './database/database-files.ts'
import { toNamedError, toUnavailable } from './database/failures.ts'
import { guardReads, guardWrites, trackFile } from './database/file-guard.ts'
import { type GuardedDatabase, guardDatabase } from './database/guarded-database.ts'
import { keysMigrations } from './database/schema.ts'
import { createSqliteInspection } from './inspection.ts'
import { createSqliteKeyStore, createSqlitePepperCheck, hasKeys } from './key-store.ts'
import { managementFile, openSqliteManagementStores } from './management/management-stores.ts'
import { createSqliteOrderStore } from './read/order-store.ts'
import {
  openSqliteWebhookStores,
  openWebhooksDatabase,
  webhooksFile,
} from './webhooks/webhook-stores.ts'
import { createSqliteOrderIndex } from './write/order-index.ts'
import { forgetClock } from './write/write-timestamps.ts'
import { acquireWriterLock, WRITER_POLL_MS } from './write/writer-lock.ts'

/**
 * Below {@link BUSY_MS}: requests wait for these writes, and the management API only for others.
 */
const SERVER_BUSY_MS = 20

/**
 * The embedded stores. Keys and orders are two files, because a load locks the orders, and
 * recording the use of a key must not wait for it.
 * @throws IndexLost when the keys exist but the orders do not, or stored orders have no keys
 */
export function openSqliteStores(
  { dataDir }: Pick<Config, 'dataDir'>,
  role: ProcessRole,
  onWarning?: OnWarning,
): Stores {
  const file = ordersFile(dataDir)
  const orders = openOrdersUnlessLost(dataDir, undefined, onWarning)
  const state = trackFile(file)
  const isServer = role === 'server'
  const busyMs = isServer ? SERVER_BUSY_MS : undefined
  const keys = openKeys(dataDir, { orders, busyTimeoutMs: busyMs })
  warnOfMissing(dataDir, keys, onWarning)
  const webhooks = openSqliteWebhookStores({ dataDir }, role, state)
  const managementStores = openSqliteManagementStores({ dataDir }, role)
  /** A server retries where a command ends. */
  const toError = isServer ? toUnavailable : toNamedError
  const toOrdersError = isServer ? state.toUnavailable : state.toNamedError
  const findSubscribers = createSubscriberLookup(webhooks.endpoints, monotonicClock)
  function openWriter(clock: Clock): OrderIndex {
    const db = openOrdersUnlessLost(dataDir, busyMs)
    try {
      const index = createSqliteOrderIndex(db, clock, findSubscribers)
      return guardWrites(index, state, toOrdersError)
    } catch (error) {
      db.close()
      throw error
    }
  }
  return {
    orders: guardReads(createSqliteOrderStore(orders), state),
    keys: createSqliteKeyStore(keys),
    pepperCheck: createSqlitePepperCheck(keys),
    async openIndex({ clock = wallClock, purpose = 'load', onDelay = () => {}, signal } = {}) {
      const lockFile = join(dataDir, 'watch.lock')
      const lock = await acquireWriterLock(lockFile, { purpose, onDelay, signal }).catch(
        (error: unknown) => {
          throw toError(lockFile, error)
        },
      )
      try {
        const index = openWriter(clock)
        return { ...index, close: () => index.close().finally(() => lock.release()) }
      } catch (error) {
        lock.release()
        throw toOrdersError(error)
      }
    },
    writerPollMs: WRITER_POLL_MS,
    inspection: createSqliteInspection(orders),
    reindexing: null,
    webhooks,
    managementStores,
    // Opening the files did both.
    async initialize() {},
    async initializeOthers() {},
    async assertSupported() {},
    async assertIndexNotLost() {},
    trustClock() {
      try {
        forgetClock(orders)
      } catch (error) {
        throw toOrdersError(error)
      }
    },
    async close() {
      orders.close()
      keys.close()
      managementStores.close()
      await webhooks.close()
    },
  }
}

/** Keys, accounts and the management of both alone, also where the orders are lost. */
export function openSqliteKeys(
  { dataDir }: Pick<Config, 'dataDir'>,
  onWarning?: OnWarning,
): Pick<Stores, 'keys' | 'pepperCheck' | 'managementStores' | 'assertSupported' | 'close'> {
  const keys = openKeys(dataDir)
  warnOfMissing(dataDir, keys, onWarning)
  // Before the first key, so that a missing file beside stored keys means a loss. One that exists
  // is not opened: keys are revoked also while it is damaged or locked.
  if (isMissingOrEmpty(webhooksFile(dataDir))) {
    openWebhooksDatabase(dataDir, 'command', 'FULL').close()
  }
  const managementStores = openSqliteManagementStores({ dataDir }, 'command')
  return {
    keys: createSqliteKeyStore(keys),
    pepperCheck: createSqlitePepperCheck(keys),
    managementStores,
    async assertSupported() {},
    async close() {
      keys.close()
      managementStores.close()
    },
  }
}

function openKeys(dataDir: string, options?: OpenKeysOptions): GuardedDatabase {
  return guardDatabase(openKeysUnlessLost(dataDir, options), keysFile(dataDir), keysMigrations)
}

/** Warns of files that are created empty beside stored keys, once. Those are stored after them. */
function warnOfMissing(
  dataDir: string,
  keys: GuardedDatabase,
  onWarning: OnWarning | undefined,
): void {
  const missing = [webhooksFile(dataDir), managementFile(dataDir)].filter(isMissingOrEmpty)
  if (missing.length === 0 || !hasKeys(keys)) return
  for (const file of missing) {
    onWarning?.(
      `${file} is missing or empty beside stored keys, and is created without content: unless an earlier release did not have it, stop every process and restore its backup`,
    )
  }
}
