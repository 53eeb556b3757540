import { connectOpenSearch } from '../../../../src/stores/opensearch/client/client.ts'
import { createEnsureIndices } from '../../../../src/stores/opensearch/indices/ensure-indices.ts'
import { indexNames } from '../../../../src/stores/opensearch/indices/index-names.ts'
import {
  createOpenSearchWebhookStores,
  type OpenSearchWebhookStoresOptions,
} from '../../../../src/stores/opensearch/webhooks/webhook-stores.ts'
import { type EventRecord, firstSequence } from '../../../../src/webhooks/events/event-record.ts'
import type { WebhookStores } from '../../../../src/webhooks/webhook-stores.ts'
import { type Backend, opensearch } from '../../stores/backend.ts'

export type WebhookSettings = Partial<
  Pick<OpenSearchWebhookStoresOptions, 'leaseMs' | 'deadlineMs' | 'monotonic'>
> & { url?: string }

/** The lease of a dispatcher: a busy machine must renew it, and tests wait for its renewal. */
export const DISPATCHER_LEASE_MS = 3_000
/** Long enough for a busy machine. */
const DEADLINE_MS = 30_000

/** The stores for webhooks on a backend of services, as one process opens them. */
export function connectWebhooks({ env }: Pick<Backend, 'env'>, settings: WebhookSettings = {}) {
  const { url = `${env['OPENSEARCH_URL']}`, ...options } = settings
  const client = connectOpenSearch({ urls: url.split(',') })
  const names = indexNames(`${env['INDEX_PREFIX']}`)
  const ensureIndices = createEnsureIndices(client, names, DEADLINE_MS)
  const stores = createOpenSearchWebhookStores({
    client,
    names,
    ensureIndices,
    deadlineMs: DEADLINE_MS,
    leaseMs: DISPATCHER_LEASE_MS,
    ...options,
  })
  return { ...stores, client, names, ensureIndices, close: () => client.close() }
}

/** Empty stores for webhooks on a backend; its indices are created once. */
export async function openOpenSearchWebhooks(backend: Backend) {
  const prefix = `${backend.env['INDEX_PREFIX']}`
  const opened = connectWebhooks(backend)
  const others: { close(): Promise<void> }[] = []
  await opened.ensureIndices.orders()
  await opened.ensureIndices.webhooks()
  await backend.refresh()
  const all = { query: { match_all: {} } }
  await opensearch('POST', `${prefix}*/_delete_by_query?refresh=true`, all)
  return {
    ...opened,
    refresh: backend.refresh,
    record: (...records: readonly EventRecord[]) => recordEvents(prefix, records),
    async storedRecords(): Promise<EventRecord[]> {
      const query = { exists: { field: 'recorded_at' } }
      const body = { size: 1_000, query, sort: [{ _seq_no: 'asc' }] }
      const { hits } = await opensearch<{ hits: { hits: { _source: RecordSource }[] } }>(
        'POST',
        `${prefix}order-events/_search`,
        body,
      )
      return hits.hits.map(({ _source }) => _source.record)
    },
    async openAgain(settings: WebhookSettings = {}): Promise<WebhookStores> {
      const other = connectWebhooks(backend, settings)
      others.push(other)
      return other
    },
    async close() {
      for (const stores of [opened, ...others]) await stores.close()
    },
  }
}

interface RecordSource {
  record: EventRecord
}

/** Creates the documents of event records, as the writer does. */
async function recordEvents(prefix: string, records: readonly EventRecord[]): Promise<void> {
  for (const record of records) {
    const id = encodeURIComponent(`${record.orderId}:${firstSequence(record)}`)
    await opensearch('PUT', `${prefix}order-events/_create/${id}`, {
      fanned_out: false,
      recorded_at: record.recordedAt,
      order_id: record.orderId,
      first_sequence: firstSequence(record),
      record,
    })
  }
}
