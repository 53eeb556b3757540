import { memoizeAsync } from '../../../lib/async/memoize-async.ts'
import { createMutex } from '../../../lib/async/mutex.ts'
import { filterGenerations } from '../../../orders/filters/filter-generations.ts'
import { IndexLost } from '../../index-lost.ts'
import { type OpenSearch, write } from '../client/client.ts'
import { createIndexCreation } from './index-creation.ts'
import {
  keyDefinitions,
  ordersDefinition,
  recordDefinitions,
  versionRecordsDefinition,
  withShards,
} from './index-definition.ts'
import { concreteIndex, type IndexNames, isVersionOf } from './index-names.ts'
import { type IndexPresence, indexLostError, readPresence } from './index-presence.ts'
import { keysLostError, readKeyPresence } from './lost-keys.ts'
import { findLostVersionRecords, versionRecordsLostError } from './lost-version-records.ts'
import { managementDefinitions } from './management-definitions.ts'
import { webhookDefinitions } from './webhook-definitions.ts'

/**
 * Creates missing indices and adds missing fields. Those of keys, webhooks and the management API
 * do it once per process, unless they fail.
 */
export interface EnsureIndices {
  /** The indices of keys and accounts. @throws IndexLost when one existed and is missing */
  keys(): Promise<void>
  /** The indices of webhooks. */
  webhooks(): Promise<void>
  /** The indices of the management API. */
  management(): Promise<void>
  /**
   * The indices of orders, version records and the lease. Creates the orders index only if none of
   * the three exists, and first those of keys and accounts.
   * @throws IndexLost when it is missing and another exists, or this process has used it; also when
   *   the version records that a writer would read are missing beside something written
   */
  orders(): Promise<void>
  /**
   * Like {@link orders}, for a dispatcher. It does not read version records, so lost ones neither
   * stop it nor are they created.
   */
  dispatcher(): Promise<void>
  /**
   * Like {@link orders}, for an existing index. @throws IndexLost; Error when it was never created
   */
  existingOrders(): Promise<void>
  /** Creates the indices of keys and accounts that are missing, empty. */
  recreateKeys(): Promise<void>
  /** Creates this version of the orders index, empty and live, and the other missing indices. */
  recreateOrders(version: string): Promise<void>
  /** Creates this index of version records, empty, and the other missing indices. */
  recreateVersionRecords(version: string): Promise<void>
}

const TEMPLATE_PRIORITY = 500

/**
 * `shards`: primary shards of the indices of orders and version records, where they are created.
 * The methods throw Unavailable, or RequestRejectedError.
 */
export function createEnsureIndices(
  client: OpenSearch,
  names: IndexNames,
  deadlineMs: number,
  shards = 1,
): EnsureIndices {
  const options = { client, names, deadlineMs }
  const { createIndex, createMissing, addFields, createOrExtend } = createIndexCreation(options)
  const mutex = createMutex()
  let isUsed = false
  let isComplete = false

  async function ensureOrders({ mayCreate = true, needsVersionRecords = true }): Promise<void> {
    const presence = await readPresence(options)
    if (presence.kind === 'lost') throw indexLostError(names, presence)
    if (presence.kind === 'never-created') {
      if (isUsed) throw new IndexLost('all its indices are missing, and this process has used them')
      if (!mayCreate) throw new Error('there is no index yet: run "index init", which creates it')
      await keys() // First, so that keys that are missing beside written orders always mean a loss.
      await createOrdersIndex(concreteIndex(names.orders, 1))
    }
    if (!isComplete) {
      const isPresent = presence.kind === 'present'
      const lost = isPresent ? await findLostVersionRecords(options, presence) : null
      if (lost !== null && needsVersionRecords) throw versionRecordsLostError(lost)
      await createRemaining(presence, { exceptVersionRecords: lost !== null })
      isComplete = lost === null
    }
    isUsed = true
  }

  /** Created first, so that records without it always mean a loss. */
  async function createOrdersIndex(version: string): Promise<void> {
    await putTemplate()
    const aliases = [names.orders, ...filterGenerations.map(names.filterAlias)]
    await createIndex(version, aliases, withShards({}, shards))
  }

  async function createRemaining(
    { records }: Pick<IndexPresence, 'records'>,
    { exceptVersionRecords = false } = {},
  ): Promise<void> {
    await putTemplate()
    // Beside another version, version 1 would be an empty one that a writer reads.
    const hasVersionRecords = records.some((index) => isVersionOf(names.versionRecords, index))
    const remaining = recordDefinitions(names, shards).filter(
      ([alias]) => !((exceptVersionRecords || hasVersionRecords) && alias === names.versionRecords),
    )
    // At the same time, so that OpenSearch starts their shards in fewer updates of its cluster
    // state.
    await Promise.all(
      remaining.map(([alias, definition]) =>
        // The next fence restores the alias of the version records.
        createMissing(alias, definition, { mayLackAlias: alias === names.versionRecords }),
      ),
    )
    await addFields(concreteIndex(names.orders, '*'), ordersDefinition, names.isVersion)
  }

  const keys = memoizeAsync(async () => {
    const { missing, areLost } = await readKeyPresence(options)
    if (areLost) throw keysLostError(names, missing)
    if (missing.length > 0) await createKeys()
    const existing = keyDefinitions(names).filter(([alias]) => !missing.includes(alias))
    await Promise.all(existing.map((definition) => addFields(...definition)))
  })

  /** In turn, because keys without accounts may be an interrupted start, and the reverse never. */
  async function createKeys(): Promise<void> {
    for (const definition of keyDefinitions(names)) await createMissing(...definition)
  }

  const putTemplate = memoizeAsync(async () => {
    const template = {
      index_patterns: [concreteIndex(names.orders, '*')],
      template: ordersDefinition,
      priority: TEMPLATE_PRIORITY,
    }
    await write(deadlineMs, (options) =>
      client.indices.putIndexTemplate({ name: names.orders, body: template as object }, options),
    )
  })

  return {
    keys,
    webhooks: memoizeAsync(() => createOrExtend(webhookDefinitions(names))),
    management: memoizeAsync(() => createOrExtend(managementDefinitions(names))),
    orders: () => mutex(() => ensureOrders({})),
    dispatcher: () => mutex(() => ensureOrders({ needsVersionRecords: false })),
    existingOrders: () => mutex(() => ensureOrders({ mayCreate: false })),
    recreateKeys: createKeys,
    recreateOrders: (version) =>
      mutex(async () => {
        const presence = await readPresence(options)
        await createOrdersIndex(version)
        await createRemaining(presence)
      }),
    recreateVersionRecords: (version) =>
      mutex(async () => {
        await createIndex(version, [names.versionRecords], versionRecordsDefinition(shards))
        await createRemaining({ records: [version] })
      }),
  }
}
