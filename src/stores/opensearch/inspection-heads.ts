import type { Head } from '../../indexing/writing/order-index.ts'
import { Unavailable } from '../../lib/unavailable.ts'
import { ask, Refused } from './client.ts'
import { type SearchAnswer, wholeAnswer } from './hits.ts'
import type { OpenSearchInspectionOptions } from './inspection.ts'
import { headOf } from './writer/stored.ts'

const PAGE_SIZE = 1_000
/** From page to page: much longer than whoever walks needs for one, and soon over should nobody close it. */
const KEEP_ALIVE = '5m'

type Options = OpenSearchInspectionOptions & { pageSize?: number }

/**
 * Every head of the index. Nothing in a head can be sorted by, so the walk holds a point in time and goes by
 * the place of each in the one shard.
 */
export async function* walkHeads(options: Options): AsyncGenerator<Head[]> {
  const { client, deadlineMs, pageSize = PAGE_SIZE } = options
  const id = await openPointInTime(options)
  try {
    for (let after: unknown; ; ) {
      const hits = await readPage(options, {
        size: pageSize,
        sort: ['_doc'],
        pit: { id, keep_alive: KEEP_ALIVE },
        ...(after !== undefined && { search_after: after }),
      })
      if (hits.length > 0) yield hits.map(({ _id, _source }) => headOf(_id, _source))
      if (hits.length < pageSize) return
      after = hits.at(-1)?.sort
    }
  } finally {
    const body = { pit_id: [id] }
    await ask(deadlineMs, (call) => client.deletePit({ body }, call)).catch(() => {}) // Then it runs out.
  }
}

async function openPointInTime({ client, names, deadlineMs }: Options): Promise<string> {
  const index = [names.heads]
  // What was written before the walk can be found by it; nobody searches heads, so else it is seldom.
  await ask(deadlineMs, (call) => client.indices.refresh({ index }, call))
  const request = { index, keep_alive: KEEP_ALIVE, preference: '_primary' }
  const answer: { pit_id?: unknown } = await ask(deadlineMs, (call) =>
    client.createPit({ ...request, allow_partial_pit_creation: false }, call),
  )
  if (typeof answer.pit_id === 'string') return answer.pit_id
  throw new Unavailable(`OpenSearch answered without the point in time of ${names.heads}`)
}

interface HeadHit {
  _id: string
  _source: Parameters<typeof headOf>[1]
  sort: readonly unknown[]
}

async function readPage({ client, deadlineMs }: Options, body: object): Promise<HeadHit[]> {
  const request = { allow_partial_search_results: false }
  const answer = await ask(deadlineMs, (call) =>
    client.search({ ...request, body: { track_total_hits: false, ...body } }, call),
  ).catch((error) => {
    throw error instanceof Refused && error.status === 404 ? new Unavailable(LOST) : error
  })
  const hits = wholeAnswer(answer as SearchAnswer)
  if (hits.every(isHeadHit)) return hits
  throw new Unavailable('OpenSearch answered without the heads that were asked for')
}

const LOST =
  'OpenSearch lost the point in time of the walk over the orders, as when a node ends: try again'

function isHeadHit(hit: unknown): hit is HeadHit {
  const { _id, _source, sort } = Object(hit) as Partial<HeadHit>
  return typeof _id === 'string' && Object(_source) === _source && Array.isArray(sort)
}
