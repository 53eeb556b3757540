import type { OrderVersionRecord } from '../../../indexing/writer/order-index.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import { read } from '../client/client.ts'
import { isRejectedWith, NOT_FOUND } from '../client/errors.ts'
import { completeRawHits, type SearchResponse } from '../client/search-response.ts'
import { toVersionRecord } from '../write/index-reader.ts'
import type { OpenSearchCheckOptions } from './consistency-check.ts'

const PAGE_SIZE = 1_000
/** From page to page: much longer than whoever walks needs for one, and soon over should nobody close it. */
const KEEP_ALIVE = '5m'

type Options = OpenSearchCheckOptions & { pageSize?: number }

/**
 * Every head of the index. Nothing in a head can be sorted by, so the walk holds a point in time and goes by
 * the place of each in the one shard.
 */
export async function* scanVersionRecords(options: Options): AsyncGenerator<OrderVersionRecord[]> {
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
      if (hits.length > 0) yield hits.map(({ _id, _source }) => toVersionRecord(_id, _source))
      if (hits.length < pageSize) return
      after = hits.at(-1)?.sort
    }
  } finally {
    const body = { pit_id: [id] }
    await read(deadlineMs, (call) => client.deletePit({ body }, call)).catch(() => {}) // Then it runs out.
  }
}

async function openPointInTime({ client, names, deadlineMs }: Options): Promise<string> {
  const index = [names.heads]
  // What was written before the walk can be found by it; nobody searches heads, so else it is seldom.
  await read(deadlineMs, (call) => client.indices.refresh({ index }, call))
  const request = { index, keep_alive: KEEP_ALIVE, preference: '_primary' }
  const response: { pit_id?: unknown } = await read(deadlineMs, (call) =>
    client.createPit({ ...request, allow_partial_pit_creation: false }, call),
  )
  if (typeof response.pit_id === 'string') return response.pit_id
  throw new Unavailable(`OpenSearch answered without the point in time of ${names.heads}`)
}

interface VersionRecordHit {
  _id: string
  _source: Parameters<typeof toVersionRecord>[1]
  sort: readonly unknown[]
}

async function readPage(
  { client, deadlineMs }: Options,
  body: object,
): Promise<VersionRecordHit[]> {
  const request = { allow_partial_search_results: false }
  const response = await read(deadlineMs, (call) =>
    client.search({ ...request, body: { track_total_hits: false, ...body } }, call),
  ).catch((error) => {
    throw isRejectedWith(error, NOT_FOUND) ? new Unavailable(POINT_IN_TIME_LOST) : error
  })
  const hits = completeRawHits(response as SearchResponse)
  if (hits.every(isVersionRecordHit)) return hits
  throw new Unavailable('OpenSearch answered without the heads that were asked for')
}

const POINT_IN_TIME_LOST =
  'OpenSearch lost the point in time of the walk over the orders, as when a node ends: try again'

function isVersionRecordHit(hit: unknown): hit is VersionRecordHit {
  const { _id, _source, sort } = Object(hit) as Partial<VersionRecordHit>
  return typeof _id === 'string' && Object(_source) === _source && Array.isArray(sort)
}
