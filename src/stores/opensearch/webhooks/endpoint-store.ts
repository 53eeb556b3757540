import type { Endpoint } from '../../../webhooks/endpoints/endpoint.ts'
import type { EndpointStore } from '../../../webhooks/endpoints/endpoint-store.ts'
import { purgeMatching } from '../client/bulk/write-matching.ts'
import { readDocument } from '../client/documents/read-documents.ts'
import { replaceDocument } from '../client/documents/replace-document.ts'
import { CONFLICT, damagedDocument, IndexMissing, RequestRejectedError } from '../client/errors.ts'
import {
  type FoundDocument,
  type IndexTarget,
  searchPages,
  searchRaw,
} from '../client/search/document-search.ts'
import type { ReportDamaged } from './damage-report.ts'
import { readChanges } from './endpoint-changes.ts'
import { endpointSource, parseEndpoint } from './endpoint-document.ts'

export interface EndpointStoreOptions {
  target: IndexTarget
  reportDamaged: ReportDamaged
}

const LIST_PAGE_SIZE = 1_000
/** The token before the index exists. */
const NO_INDEX = 'none'
const exists = (field: string) => ({ exists: { field } })
const DELETED = exists('deleted_at')
const DISABLED = exists('disabled_reason')
const FAILING = exists('failing_since')

/** The searches of {@link EndpointStore.counts}; no endpoint matches two of them. */
const STATES = {
  enabled: { bool: { must_not: [DISABLED, FAILING] } },
  failing: { bool: { filter: [FAILING], must_not: [DISABLED] } },
  disabled: DISABLED,
}

/** Webhook endpoints in a cluster, each the document of its id. */
export function createOpenSearchEndpointStore({
  target,
  reportDamaged,
}: EndpointStoreOptions): EndpointStore {
  const { client, index, deadlineMs } = target
  const writeOptions = { deadlineMs, refresh: 'wait_for' } as const

  /** The endpoints of documents; a damaged one is reported, so that it stops no other. */
  function intact(documents: readonly FoundDocument[]): Endpoint[] {
    return documents.flatMap(({ id, source }) => {
      const endpoint = parseEndpoint(source)
      if (endpoint === null) reportDamaged(index, id)
      return endpoint ?? []
    })
  }

  async function readEndpoint(id: string) {
    const found = await readDocument(client, deadlineMs, { index, id })
    if (found === null) return null
    const endpoint = parseEndpoint(found.source)
    if (endpoint === null) throw damagedDocument(index, id)
    return { endpoint, state: found.state }
  }

  return {
    async insert(endpoint) {
      const { id } = endpoint
      const source = endpointSource(endpoint)
      const inserted = await replaceDocument(client, writeOptions, { index, id }, null, source)
      if (inserted !== null) return
      throw new RequestRejectedError(CONFLICT, 'conflict', `the endpoint ${id} exists`)
    },

    async find(id) {
      return (await readEndpoint(id))?.endpoint ?? null
    },

    async byId(id) {
      const endpoint = (await readEndpoint(id))?.endpoint
      return endpoint?.deletedAt === null ? endpoint : null
    },

    async list(accountId) {
      const filter = [{ term: { account_id: accountId } }]
      const query = { bool: { filter, must_not: [DELETED] } }
      const endpoints: Endpoint[] = []
      const search = { query, sort: [{ created_at: 'asc' }], pageSize: LIST_PAGE_SIZE }
      for await (const page of searchPages(target, search)) endpoints.push(...intact(page))
      return endpoints
    },

    async update(id, change) {
      for (;;) {
        const found = await readEndpoint(id)
        if (found === null) return null
        const { endpoint } = found
        const isDeleted = endpoint.deletedAt !== null
        // A node may show a deletion that no other node has, and that is lost with it.
        const written = isDeleted ? endpoint : change(endpoint)
        if (written === null) return null
        const source = endpointSource(written)
        const address = { index, id }
        const state = await replaceDocument(client, writeOptions, address, found.state, source)
        if (state !== null) return isDeleted ? null : written
      }
    },

    async changes(token) {
      try {
        const { documents, token: next } = await readChanges(target, token)
        return { endpoints: intact(documents), token: next }
      } catch (error) {
        // The writer calls this for every index; only a first endpoint creates one of endpoints.
        if (!(error instanceof IndexMissing)) throw error
        return { endpoints: [], token: token ?? NO_INDEX }
      }
    },

    async counts() {
      const { aggregations } = await searchRaw(target, {
        size: 0,
        query: { bool: { must_not: [DELETED] } },
        aggs: { states: { filters: { filters: STATES } } },
      })
      const { buckets = {} } = Object(aggregations?.['states']) as CountBuckets
      const count = (state: keyof typeof STATES) => buckets[state]?.doc_count ?? 0
      return { enabled: count('enabled'), failing: count('failing'), disabled: count('disabled') }
    },

    purgeDeleted(beforeMs) {
      return purgeMatching(target, { range: { deleted_at: { lt: beforeMs } } })
    },
  }
}

interface CountBuckets {
  buckets?: Partial<Record<keyof typeof STATES, { doc_count?: number }>>
}
