import {
  hasKeysOf,
  hasReadableKeys,
  isReadableOrder,
  type StoredKeys,
} from '../../../indexing/writer/order-document.ts'
import type {
  IndexReader,
  StoredView,
  UnreadableView,
} from '../../../indexing/writer/order-index.ts'
import type { ViewKey } from '../../../orders/order-store.ts'
import type { OpenSearch } from '../client/client.ts'
import { documentState } from '../client/documents/document-state.ts'
import { type MgetDocument, readDocuments } from '../client/documents/read-documents.ts'
import { REMOVED_FIELD } from '../client/documents/tombstone.ts'
import { type ScannedHit, scanDocuments } from '../client/search/scan.ts'
import { type EventRecordSource, eventRecordId } from '../event-record-document.ts'
import { checksumMatches } from '../order-documents/checksum-header.ts'
import {
  documentAddress,
  type OrderDocumentSource,
  parseOrderSource,
  storedBytes,
  toStoredJson,
} from '../order-documents/order-document-source.ts'
import { readByOrder } from '../order-documents/read-by-order.ts'
import { toVersionRecord } from '../version-record-document.ts'
import type { BulkAddress, BulkTarget, OptimisticConcurrency } from './optimistic-concurrency.ts'

export interface IndexReaderOptions {
  client: OpenSearch
  /** The index or alias to read, per kind of document; called before each request. */
  indexOf(target: BulkTarget): string
  /** Receives the state of every document read, which may throw. */
  states: Pick<OptimisticConcurrency, 'recordState'>
  /** For each call, the response body included. */
  deadlineMs: number
}

/** Reads the index for a decision. Reads by id include documents that are not searchable yet. */
export function createIndexReader({
  client,
  indexOf,
  states,
  deadlineMs,
}: IndexReaderOptions): Omit<IndexReader, 'subscribers'> {
  async function readAll(
    target: BulkTarget,
    docs: readonly BulkAddress[],
  ): Promise<MgetDocument[]> {
    const documents = await readDocuments(client, deadlineMs, { index: indexOf(target), docs })
    for (const document of documents) {
      states.recordState(target, document._id, documentState(document)) // A tombstone has one too.
    }
    return documents
  }

  return {
    async versionRecords(orderIds) {
      const documents = await readAll(
        'versionRecords',
        orderIds.map((_id) => ({ _id })),
      )
      const found = documents.filter(exists)
      return new Map(found.map((document) => [document._id, toVersionRecord(document)]))
    },
    orphans: scan,
    scan,
    async views(keys) {
      const documents = await readByOrder<MgetDocument>(keys, {
        read: (some) => readAll('orders', some.map(documentAddress)),
        bytesOf: storedBytes,
      })
      return keys.flatMap((key, at) => {
        const document = documents[at]
        if (document?.found) return storedView(key, document._source)
        const removedKey = Object(document?._source)[REMOVED_FIELD]
        return removedKey === undefined ? [] : { ...key, removedKey }
      })
    },
    async eventRecords(keys) {
      const docs = keys.map((key) => ({ _id: eventRecordId(key) }))
      const request = { index: indexOf('eventRecords'), docs }
      const documents = await readDocuments(client, deadlineMs, request)
      return documents
        .filter(({ found }) => found)
        .map(({ _source }) => (_source as EventRecordSource).record)
    },
  }

  async function scan(orderIds: readonly string[]): Promise<ViewKey[]> {
    if (orderIds.length === 0) return []
    // A search is enough: the fence refreshed all that other writers and failed bulks of this
    // writer wrote. A successful bulk leaves no orphans.
    const filter = [{ terms: { id: [...orderIds] } }]
    const scanOptions = {
      client,
      index: indexOf('orders'),
      deadlineMs,
      pageSize: PAGE_SIZE,
      filter,
    }
    const found: ViewKey[] = []
    for await (const page of scanDocuments({ ...scanOptions, selection: { _source: false } })) {
      found.push(...page.map(viewKeyOf))
    }
    return found
  }
}

const PAGE_SIZE = 5_000

function viewKeyOf({ sort: [accountId, orderId] = [] }: ScannedHit): ViewKey {
  return { accountId: String(accountId), orderId: String(orderId) }
}

type ExistingDocument = MgetDocument & Required<Pick<MgetDocument, '_source'>>

function exists(document: MgetDocument): document is ExistingDocument {
  return document.found
}

function storedView({ accountId, orderId }: ViewKey, source: unknown): StoredView | UnreadableView {
  const keys = keysOf(source)
  const stored = parseOrderSourceOrUndefined(source)
  const isOfKey = stored?.account_id === accountId && stored.id === orderId
  if (!isOfKey || !hasReadableKeys(keys) || !isReadableOrder(stored.order)) {
    return { accountId, orderId, isUnreadable: true }
  }
  const { writtenKey } = keys
  return {
    accountId,
    orderId,
    updatedKey: keys.updatedKey,
    ...(typeof writtenKey === 'number' && { writtenKey }),
    schemaVersion: keys.schemaVersion,
    json: toStoredJson(stored),
    isIntact: (view) => checksumMatches(Object(source)) && hasKeysOf(view, keys),
  }
}

function parseOrderSourceOrUndefined(source: unknown): OrderDocumentSource | undefined {
  try {
    return parseOrderSource(source)
  } catch {
    return undefined // The caller reports it as unreadable.
  }
}

function keysOf(source: unknown): StoredKeys {
  const keys = Object(source) as Record<string, unknown>
  return {
    schemaVersion: keys['shape'],
    status: keys['status'],
    paymentMethod: keys['payment_method'],
    createdKey: keys['created_key'],
    updatedKey: keys['updated_key'],
    writtenKey: keys['written_key'],
    filterKeys: keys,
  }
}
