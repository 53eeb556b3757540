import { type OpenSearch, read } from '../../client/client.ts'
import { NO_TOMBSTONES, REMOVED_FIELD } from '../../client/documents/tombstone.ts'
import {
  completeHitsOfAllShards,
  type SearchResponse,
} from '../../client/search/search-response.ts'
import { refreshIndices } from '../../client/shards.ts'
import type { IndexNames } from '../../indices/index-names.ts'

interface NewestResponse extends SearchResponse {
  hits?: { hits?: unknown; total?: { value?: number } }
  aggregations?: Partial<Record<string, { value?: number | null }>>
}

const NEWEST_WRITTEN = { max: { field: 'written_key' } }
const NEWEST_REMOVED = { max: { field: REMOVED_FIELD } }

/** The number of searchable documents and their greatest write timestamp, epoch milliseconds. */
export async function readVisibleStats(
  client: OpenSearch,
  names: IndexNames,
  deadlineMs: number,
): Promise<{ documents: number; newestWrittenKey: number | null }> {
  const { hits, aggregations } = await search(client, names, deadlineMs, {
    track_total_hits: true,
    query: NO_TOMBSTONES,
    aggs: { newest: NEWEST_WRITTEN },
  })
  return {
    documents: hits?.total?.value ?? 0,
    newestWrittenKey: aggregations?.['newest']?.value ?? null,
  }
}

/** The greatest write timestamp of all documents and tombstones after a refresh; 0 without any. */
export async function readMaxWriteTimestamp(
  client: OpenSearch,
  names: IndexNames,
  deadlineMs: number,
): Promise<number> {
  await refreshIndices(client, deadlineMs, [names.orders])
  const aggs = { newest: NEWEST_WRITTEN, removed: NEWEST_REMOVED }
  const { aggregations } = await search(client, names, deadlineMs, { aggs })
  const { newest, removed } = aggregations ?? {}
  return Math.max(newest?.value ?? 0, removed?.value ?? 0)
}

async function search(
  client: OpenSearch,
  names: IndexNames,
  deadlineMs: number,
  body: object,
): Promise<NewestResponse> {
  const request = {
    index: names.orders,
    preference: '_primary',
    allow_partial_search_results: false,
    body: { size: 0, ...body },
  }
  const response = (await read(deadlineMs, (call) =>
    client.search(request, call),
  )) as NewestResponse
  completeHitsOfAllShards(response)
  return response
}
