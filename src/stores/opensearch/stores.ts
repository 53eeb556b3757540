import type { Config } from '../../config/config.ts'
import { memoizeAsync } from '../../lib/async/memoize-async.ts'
import { monotonicClock, wallClock } from '../../lib/clock.ts'
import type { Instrument } from '../../lib/instrument.ts'
import { createSubscriberLookup } from '../../webhooks/endpoints/endpoint-directory.ts'
import type { IndexRecovery } from '../index-lost.ts'
import type { Stores } from '../stores.ts'
import {
  connectOpenSearch,
  type OpenSearchNodes,
  type OpenSearchOperation,
} from './client/client.ts'
import { assertSupportedVersion } from './client/supported-version.ts'
import { createEnsureIndices } from './indices/ensure-indices.ts'
import { indexNames } from './indices/index-names.ts'
import { indexLostError, readPresence } from './indices/index-presence.ts'
import { initOpenSearchAfterLoss } from './indices/init-after-loss.ts'
import { createOpenSearchInspection } from './inspection/inspection.ts'
import { createOpenSearchKeyStore } from './key-store.ts'
import { leasePollMs } from './lease-observation.ts'
import { createOpenSearchManagementStores } from './management/management-stores.ts'
import type { OnDecode } from './read/decode-orders.ts'
import { createOpenSearchOrderStore } from './read/order-store.ts'
import { createReindexing } from './reindex/reindexing.ts'
import { createOpenSearchWebhookStores } from './webhooks/webhook-stores.ts'
import { openOpenSearchOrderIndex } from './write/order-index.ts'

export type OpenSearchConfig = Pick<
  Config,
  'indexPrefix' | 'ordersShards' | 'searchDeadlineMs' | 'bulkDeadlineMs' | 'writerLeaseMs'
>

/** Events of the reads that serve API calls. */
export interface OpenSearchEvents {
  instrumentOpenSearch: Instrument<OpenSearchOperation>
  onDecode: OnDecode
}

/** Opens the stores of a cluster. `INDEX_PREFIX` separates several services on it. */
export function openOpenSearchStores(
  nodes: OpenSearchNodes,
  config: OpenSearchConfig,
  events?: OpenSearchEvents,
): Stores {
  const client = connectOpenSearch(nodes)
  const names = indexNames(config.indexPrefix)
  const { bulkDeadlineMs, ordersShards } = config
  const ensureIndices = createEnsureIndices(client, names, bulkDeadlineMs, ordersShards)
  const shared = {
    client,
    names,
    deadlineMs: config.searchDeadlineMs,
    ...(events && { instrument: events.instrumentOpenSearch }),
  }
  const webhooks = createOpenSearchWebhookStores({
    client,
    names,
    ensureIndices,
    deadlineMs: config.bulkDeadlineMs,
    leaseMs: config.writerLeaseMs,
  })
  const subscribers = createSubscriberLookup(webhooks.endpoints, monotonicClock)
  const keys = createOpenSearchKeyStore({
    ...shared,
    ensureIndices,
    writeDeadlineMs: config.bulkDeadlineMs,
  })
  // Until it succeeds once; then it sends no request.
  const assertSupported = memoizeAsync(() =>
    assertSupportedVersion(client, config.searchDeadlineMs),
  )
  return {
    orders: createOpenSearchOrderStore({
      ...shared,
      ...(events && { onDecode: events.onDecode }),
    }),
    keys: {
      ...keys,
      // Readiness reports it where OpenSearch was unavailable at the start of the process.
      async ping() {
        await Promise.all([assertSupported(), keys.ping()])
      },
    },
    async openIndex({ clock = wallClock, purpose = 'load', onDelay = () => {}, signal } = {}) {
      await assertSupported()
      // Before the first write, so that keys that are missing beside one always mean a loss. A load
      // also checks them for uses.
      await ensureIndices.keys()
      return openOpenSearchOrderIndex({
        client,
        names,
        ensureIndices,
        subscribers,
        leaseMs: config.writerLeaseMs,
        deadlineMs: config.bulkDeadlineMs,
        clock,
        purpose,
        onDelay,
        signal,
      })
    },
    writerPollMs: leasePollMs(config.writerLeaseMs),
    // The longer deadline, because a page of a scan may be large and no request waits for it.
    inspection: createOpenSearchInspection({
      ...shared,
      deadlineMs: config.bulkDeadlineMs,
      healthDeadlineMs: config.searchDeadlineMs,
    }),
    reindexing: createReindexing({
      client,
      names,
      ensureIndices,
      leaseMs: config.writerLeaseMs,
      deadlineMs: config.bulkDeadlineMs,
      clock: wallClock,
    }),
    webhooks,
    managementStores: createOpenSearchManagementStores({
      client,
      names,
      ensureIndices,
      deadlineMs: config.bulkDeadlineMs,
      sessionDeadlineMs: config.searchDeadlineMs,
    }),
    async initialize() {
      await ensureIndices.orders()
      await ensureIndices.keys()
    },
    async initializeOthers() {
      await Promise.all([ensureIndices.webhooks(), ensureIndices.management()])
    },
    assertSupported,
    async assertIndexNotLost() {
      const presence = await readPresence(shared)
      if (presence.kind === 'lost') throw indexLostError(names, presence)
    },
    trustClock: null,
    pepperCheck: null,
    close: () => client.close(),
  }
}

/**
 * Begins with an empty index where one was lost.
 * @throws UnsupportedStore; Error where it was not
 */
export async function initIndexAfterLoss(
  nodes: OpenSearchNodes,
  { indexPrefix, ordersShards: shards, bulkDeadlineMs: deadlineMs }: OpenSearchConfig,
): Promise<IndexRecovery> {
  const client = connectOpenSearch(nodes)
  try {
    await assertSupportedVersion(client, deadlineMs)
    const names = indexNames(indexPrefix)
    return await initOpenSearchAfterLoss({ client, names, deadlineMs, shards })
  } finally {
    await client.close()
  }
}
