import type {
  IndexInspection,
  InspectedDocument,
} from '../../../indexing/consistency-check/index-inspection.ts'
import { Unavailable } from '../../../lib/errors/unavailable.ts'
import type { ViewKey } from '../../../orders/order-store.ts'
import { readAliases } from '../client/aliases.ts'
import {
  type MgetDocument,
  type MgetRequest,
  readDocuments,
} from '../client/documents/read-documents.ts'
import { findFilter, findMisplacement, findSeveralIndices } from '../indices/read-alias.ts'
import { leaseDocument } from '../lease-document.ts'
import { checksumMatches } from '../order-documents/checksum-header.ts'
import { documentAddress, storedBytes } from '../order-documents/order-document-source.ts'
import { readByOrder } from '../order-documents/read-by-order.ts'
import { toInspectedRecord } from '../version-record-document.ts'
import { scanIndex, toInspectedDocument } from './document-scan.ts'
import { readOverview, readWriteTimestamps } from './index-overview.ts'
import type { OpenSearchInspectionOptions } from './inspection-options.ts'
import { scanVersionRecords } from './version-record-scan.ts'

const MAX_DOCUMENTS_PER_REQUEST = 1_000

/** Reads the index without the writer's lease. */
export function createOpenSearchInspection(options: OpenSearchInspectionOptions): IndexInspection {
  const { client, names, deadlineMs, healthDeadlineMs = deadlineMs } = options

  /** The documents, with all fields unless `selection` limits them. */
  function read(
    keys: readonly ViewKey[],
    selection: Pick<MgetRequest, '_source'> = {},
  ): Promise<MgetDocument[]> {
    const docs = keys.map(documentAddress)
    return readDocuments(client, deadlineMs, { index: names.orders, docs, ...selection })
  }

  /** The existing documents, which `readSome` reads in parts. */
  async function readExisting(
    keys: readonly ViewKey[],
    readSome: (keys: readonly ViewKey[]) => Promise<MgetDocument[]>,
  ): Promise<InspectedDocument[]> {
    const documents: InspectedDocument[] = []
    for (let from = 0; from < keys.length; from += MAX_DOCUMENTS_PER_REQUEST) {
      const found = await readSome(keys.slice(from, from + MAX_DOCUMENTS_PER_REQUEST))
      const existing = found.filter(({ found }) => found)
      documents.push(
        ...existing.map((one) => toInspectedDocument(one, !checksumMatches(Object(one._source)))),
      )
    }
    return documents
  }

  return {
    async versionRecords(orderIds) {
      const docs = orderIds.map((_id) => ({ _id }))
      const request = { index: names.versionRecords, docs }
      const documents = await readDocuments(client, deadlineMs, request)
      const found = documents.filter(({ found }) => found)
      return new Map(found.map((document) => [document._id, toInspectedRecord(document)]))
    },

    documents: (keys) =>
      readExisting(keys, (some) => readByOrder<MgetDocument>(some, { read, bytesOf: storedBytes })),

    async existingKeys(keys) {
      const documents = await readExisting(keys, (some) => read(some, { _source: false }))
      return documents.map(({ address }) => address)
    },

    scanDocuments: () => scanIndex(options),
    scanVersionRecords: () => scanVersionRecords(options),
    overview: (maxProbeMs) => readOverview(options, maxProbeMs),
    writeTimestamps: () => readWriteTimestamps(options, healthDeadlineMs),

    async readAliasFault() {
      const lease = await leaseDocument(client, names, healthDeadlineMs).read()
      const indices = await readAliases(client, healthDeadlineMs, [names.orders])
      const live = Object.keys(indices).toSorted((one, other) => (one < other ? -1 : 1))
      if (live.length === 0) throw new Unavailable(`no index has the alias ${names.orders}`)
      const targets = lease?.record.targets ?? live
      const bounded = { ...options, deadlineMs: healthDeadlineMs }
      return (
        findSeveralIndices(names, live) ??
        (await findMisplacement(bounded, live, targets)) ??
        findFilter(names, indices)
      )
    },
  }
}
