import { isPepperOfKeys } from '../auth/pepper-check.ts'
import { type Config, parseConfig } from '../config/config.ts'
import { wallClock } from '../lib/clock.ts'
import { type AuditLog, createAuditLog } from '../management/audit/audit-log.ts'
import { createKeyManagement, type KeyManagement } from '../management/keys/key-management.ts'
import type { ManagementStores } from '../management/management-stores.ts'
import { openKeyServices, openServices, type Services } from '../services.ts'
import { IndexLost } from '../stores/index-lost.ts'
import type { OnWarning, ProcessRole, Stores } from '../stores/stores.ts'
import { UnsupportedStore } from '../stores/unsupported-store.ts'
import type { ProgramIo } from './command-context.ts'

export interface WithServicesOptions {
  /** Runs the command on a lost index too; the store rejects what is impossible there. */
  allowLostIndex?: boolean
  /** `command` when absent. */
  role?: ProcessRole
}

/**
 * Opens the configured services, runs a command and always closes them.
 * @throws UnsupportedStore; IndexLost when the orders index is lost, unless `allowLostIndex` is set
 */
export type WithServices = <T>(
  work: (services: Services, config: Config) => Promise<T>,
  options?: WithServicesOptions,
) => Promise<T>

/**
 * Returns a {@link WithServices} for these settings. Each call parses the settings and opens its
 * own services, and throws Error when a setting is invalid.
 */
export function createWithServices({ env, stderr }: EnvironmentAndStderr): WithServices {
  return async (work, { allowLostIndex = false, role = 'command' } = {}) => {
    const config = parseConfig(env)
    const services = await openServices(config, role, printWarning(stderr))
    try {
      await (allowLostIndex ? assertSupported(services) : assertUsable(services))
      return await work(services, config)
    } finally {
      await services.close()
    }
  }
}

type EnvironmentAndStderr = Pick<ProgramIo, 'env' | 'stderr'>

function printWarning(stderr: ProgramIo['stderr']): OnWarning {
  return (warning) => stderr.write(`warning: ${warning}\n`)
}

/**
 * Fails a command early when the store is not supported, or the orders index is lost. An
 * unavailable store does not fail it: its state is unknown, the command fails by itself if needed,
 * and a server responds 503 meanwhile.
 * @throws UnsupportedStore, IndexLost
 */
export async function assertUsable(
  stores: Pick<Stores, 'assertSupported' | 'assertIndexNotLost'>,
): Promise<void> {
  // In parallel, because a store that does not respond delays both until their deadline.
  const [support, loss] = await Promise.allSettled([
    assertSupported(stores),
    stores.assertIndexNotLost(),
  ])
  if (support.status === 'rejected') throw support.reason
  if (loss.status === 'rejected' && loss.reason instanceof IndexLost) throw loss.reason
}

/** The part of {@link assertUsable} for commands that work without the orders index. */
async function assertSupported(stores: Pick<Stores, 'assertSupported'>): Promise<void> {
  await stores.assertSupported().catch((error: unknown) => {
    if (error instanceof UnsupportedStore) throw error
  })
}

/** The management of keys and accounts, its log of changes and its stores. */
export interface KeyManagementServices {
  keys: KeyManagement
  /** Whether the service accepts a key that is created now, as far as is known. */
  isPepperOfKeys(): Promise<boolean>
  audit: AuditLog
  stores: ManagementStores
}

/** As `WithServices`, with keys and accounts only, which a lost index does not affect. */
export type WithKeyManagement = <T>(
  work: (services: KeyManagementServices) => Promise<T>,
) => Promise<T>

/**
 * Returns a {@link WithKeyManagement} for these settings. Each call opens the services it needs and
 * always closes them.
 */
export function createWithKeyManagement({ env, stderr }: EnvironmentAndStderr): WithKeyManagement {
  return async (work) => {
    const services = await openKeyServices(parseConfig(env), printWarning(stderr))
    const { keys, keyPepper, managementStores } = services
    const audit = createAuditLog(managementStores.audit, wallClock)
    try {
      await assertSupported(services)
      const options = {
        keys,
        keyPepper,
        sessions: managementStores.sessions,
        audit,
        clock: wallClock,
      }
      return await work({
        keys: createKeyManagement(options),
        isPepperOfKeys: () => isPepperOfKeys(services),
        audit,
        stores: managementStores,
      })
    } finally {
      await services.close()
    }
  }
}
