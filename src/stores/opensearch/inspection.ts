import type { FoundDocument, IndexInspection } from '../../indexing/inspection/index-inspection.ts'
import type { ViewKey } from '../../indexing/writing/order-index.ts'
import type { OpenSearch } from './client.ts'
import { fitsFrame } from './cut.ts'
import { type ManyRequest, readDocuments } from './documents.ts'
import { walkHeads } from './inspection-heads.ts'
import { readOverview, readStamps } from './inspection-overview.ts'
import { foundDocument, walkIndex } from './inspection-walk.ts'
import type { IndexNames } from './names.ts'
import { documentId } from './order-source.ts'
import { createKnownStates } from './writer/known-states.ts'
import { createStored } from './writer/stored.ts'

export interface OpenSearchInspectionOptions {
  client: OpenSearch
  names: IndexNames
  /** For each request, the answer's body included. */
  deadlineMs: number
  /** For what health checks ask; `deadlineMs` when absent. */
  glanceDeadlineMs?: number
}

const MAX_DOCUMENTS_A_REQUEST = 1_000

/** Looks into the index of a cluster without its writer's lease, and keeps nothing of what it saw. */
export function createOpenSearchInspection(options: OpenSearchInspectionOptions): IndexInspection {
  const { client, names, deadlineMs, glanceDeadlineMs = deadlineMs } = options
  // Whoever does not write need not know the states of what it reads.
  const states = { ...createKnownStates(), see() {} }
  const stored = createStored({ client, names, states, deadlineMs })

  /** The documents that exist, all of each unless `wanted` says less. */
  async function readAll(
    keys: readonly ViewKey[],
    wanted: Pick<ManyRequest, '_source'> = {},
  ): Promise<FoundDocument[]> {
    const documents: FoundDocument[] = []
    for (let from = 0; from < keys.length; from += MAX_DOCUMENTS_A_REQUEST) {
      const some = keys.slice(from, from + MAX_DOCUMENTS_A_REQUEST)
      const docs = some.map((key) => ({ _id: documentId(key), routing: key.accountId }))
      const request = { index: names.orders, docs, ...wanted }
      const told = await readDocuments(client, deadlineMs, request)
      const existing = told.filter(({ found }) => found)
      documents.push(...existing.map((one) => foundDocument(one, !fitsFrame(Object(one._source)))))
    }
    return documents
  }

  return {
    heads: (orderIds) => stored.heads(orderIds),

    documents: (keys) => readAll(keys),

    async existing(keys) {
      const documents = await readAll(keys, { _source: false })
      return documents.map(({ address }) => address)
    },

    walk: () => walkIndex(options),
    walkHeads: () => walkHeads(options),
    overview: (lookMs) => readOverview(options, lookMs),
    stamps: () => readStamps(options, glanceDeadlineMs),
  }
}
