import type { FoundDocument, IndexInspection } from '../../indexing/inspection/index-inspection.ts'
import type { ViewKey } from '../../indexing/writing/order-index.ts'
import { Unavailable } from '../../lib/unavailable.ts'
import { ask, type OpenSearch } from './client.ts'
import { walkHeads } from './inspection-heads.ts'
import { readOverview } from './inspection-overview.ts'
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
}

const MAX_DOCUMENTS_A_REQUEST = 1_000

/** Looks into the index of a cluster without its writer's lease, and keeps nothing of what it saw. */
export function createOpenSearchInspection(options: OpenSearchInspectionOptions): IndexInspection {
  const { client, names, deadlineMs } = options
  // Whoever does not write need not know the states of what it reads.
  const states = { ...createKnownStates(), see() {} }
  const stored = createStored({ client, names, states, deadlineMs })

  /** The documents that exist, all of each unless `wanted` says less. */
  async function read(keys: readonly ViewKey[], wanted: Wanted): Promise<Told[]> {
    const docs = keys.map((key) => ({ _id: documentId(key), routing: key.accountId }))
    const { docs: answers }: { docs?: unknown[] } = await ask(deadlineMs, (call) =>
      client.mget({ index: names.orders, ...wanted, body: { docs: docs as [] } }, call),
    )
    if (answers?.length !== docs.length || !answers.every(isTold)) {
      throw new Unavailable(`OpenSearch did not tell every document of ${names.orders}`)
    }
    return answers.filter(({ found }) => found)
  }

  async function readAll(keys: readonly ViewKey[], wanted: Wanted = {}): Promise<FoundDocument[]> {
    const documents: FoundDocument[] = []
    for (let from = 0; from < keys.length; from += MAX_DOCUMENTS_A_REQUEST) {
      const told = await read(keys.slice(from, from + MAX_DOCUMENTS_A_REQUEST), wanted)
      documents.push(...told.map(foundDocument))
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
  }
}

interface Wanted {
  _source?: boolean
}

interface Told {
  _id: string
  found: boolean
  _source?: unknown
}

function isTold(answer: unknown): answer is Told {
  const { _id, found } = Object(answer) as Partial<Told>
  return typeof _id === 'string' && typeof found === 'boolean'
}
