import { setTimeout as pause } from 'node:timers/promises'
import { parseConfig } from '../../../../src/config/config.ts'
import type { OrderDocument } from '../../../../src/indexing/writer/order-document.ts'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import { noFilters } from '../../../../src/orders/filters/filters.ts'
import type { PageQuery, Position, Sort } from '../../../../src/orders/order-store.ts'
import {
  connectOpenSearch,
  readRaw,
  write,
} from '../../../../src/stores/opensearch/client/client.ts'
import { createEnsureIndices } from '../../../../src/stores/opensearch/indices/ensure-indices.ts'
import { indexNames } from '../../../../src/stores/opensearch/indices/index-names.ts'
import {
  documentId,
  serializeDocument,
} from '../../../../src/stores/opensearch/order-documents/order-document-source.ts'
import { buildSearch } from '../../../../src/stores/opensearch/read/search-body.ts'
import type { Backend } from '../../../support/stores/backend.ts'

const DEADLINE_MS = 60_000
const TRIES = 20
const BULK_BYTES = 4 * 2 ** 20

/** The orders index of a backend and the raw responses to its searches. */
export async function openRawPages({ env, refresh }: Backend) {
  const { opensearchUrls: urls = [], indexPrefix } = parseConfig(env)
  const client = connectOpenSearch({ urls })
  const names = indexNames(indexPrefix)
  await createEnsureIndices(client, names, DEADLINE_MS).orders()

  async function send(body: string): Promise<void> {
    const request = { index: names.orders, body: Buffer.from(body) as never }
    const { items } = await retry(() =>
      write(DEADLINE_MS, (options) => client.bulk(request, options)),
    )
    const rejected = items.find(({ index }) => index?.error !== undefined)
    if (rejected) throw new Error(`rejected: ${JSON.stringify(rejected)}`)
  }

  return {
    async load(documents: Iterable<OrderDocument>): Promise<void> {
      let body = ''
      for (const document of documents) {
        const { accountId, id } = document
        const index = { _id: documentId({ accountId, orderId: id }), routing: accountId }
        body += `${JSON.stringify({ index })}\n${serializeDocument(document)}\n`
        if (body.length < BULK_BYTES) continue
        await send(body)
        body = ''
      }
      if (body !== '') await send(body)
      await refresh()
    },

    /** The response bytes of a page search. */
    answer(accountId: string, sort: Sort, size: number, after: Position | null = null) {
      const query: PageQuery = {
        accountId,
        sort,
        filters: noFilters,
        after,
        nullsWrittenAfter: null,
        size,
      }
      const path = `/${names.orders}/_search?routing=${accountId}`
      return readRaw(client, DEADLINE_MS, { path, body: JSON.stringify(buildSearch(query)) })
    },

    close: () => client.close(),
  }
}

/** Retries while the cluster rejects for load, since other tests use it too. */
async function retry<T>(send: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await send()
    } catch (error) {
      if (!(error instanceof Unavailable) || tries === TRIES) throw error
      await pause(1_000)
    }
  }
}
