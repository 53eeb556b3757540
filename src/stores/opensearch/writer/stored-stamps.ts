import { ask, type OpenSearch } from '../client.ts'
import { type SearchAnswer, wholeAnswer } from '../hits.ts'
import type { IndexNames } from '../names.ts'
import { NO_TOMBSTONES } from '../tombstone.ts'

interface NewestAnswer extends SearchAnswer {
  hits?: { hits?: unknown; total?: { value?: number } }
  aggregations?: { newest?: { value?: number | null } }
}

/** How many documents a search can find, and the greatest stamp among them, epoch milliseconds. */
export async function readVisible(
  client: OpenSearch,
  names: IndexNames,
  deadlineMs: number,
): Promise<{ documents: number; newestWrittenKey: number | null }> {
  const body = {
    size: 0,
    track_total_hits: true,
    query: NO_TOMBSTONES,
    aggs: { newest: { max: { field: 'written_key' } } },
  }
  const request = {
    index: names.orders,
    preference: '_primary',
    allow_partial_search_results: false,
  }
  const answer = (await ask(deadlineMs, (call) =>
    client.search({ ...request, body: body as object }, call),
  )) as NewestAnswer
  wholeAnswer(answer)
  return {
    documents: answer.hits?.total?.value ?? 0,
    newestWrittenKey: answer.aggregations?.newest?.value ?? null,
  }
}

/** The greatest stamp of all documents, visible yet or not; 0 without any. */
export async function readGreatestStamp(
  client: OpenSearch,
  names: IndexNames,
  deadlineMs: number,
): Promise<number> {
  await ask(deadlineMs, (call) => client.indices.refresh({ index: names.orders }, call))
  return (await readVisible(client, names, deadlineMs)).newestWrittenKey ?? 0
}
