import type { InspectedRecord } from '../../../indexing/consistency-check/index-inspection.ts'
import { Unavailable } from '../../../lib/errors/unavailable.ts'
import { read } from '../client/client.ts'
import { isRejectedWith, NOT_FOUND } from '../client/errors.ts'
import { nameOf, type ScanOptions } from '../client/search/scan.ts'
import { searchAfter } from '../client/search/search-after.ts'
import { completeRawHits, type SearchResponse } from '../client/search/search-response.ts'
import { primaryOf, readShardCount, refreshIndices } from '../client/shards.ts'
import { readVersionRecordIndices } from '../indices/version-record-index.ts'
import { type FoundVersionRecord, toInspectedRecord } from '../version-record-document.ts'
import type { OpenSearchInspectionOptions } from './inspection-options.ts'

const PAGE_SIZE = 1_000
/** Renewed by each page. Long enough to process one, and short if a crash leaves it open. */
const KEEP_ALIVE = '5m'

type Options = OpenSearchInspectionOptions & { pageSize?: number }

/** Scans all version records, damaged ones included. */
export async function* scanVersionRecords(options: Options): AsyncGenerator<InspectedRecord[]> {
  const { names, ...scan } = options
  // A reindex may move the alias during the scan.
  const [index = names.versionRecords] = await readVersionRecordIndices(
    scan.client,
    names,
    scan.deadlineMs,
  )
  for await (const hits of scanRecordHits({ ...scan, index })) yield hits.map(toInspectedRecord)
}

/** The index has version records, and its name may be an alias. */
type RecordScanOptions = Pick<ScanOptions, 'client' | 'index' | 'deadlineMs' | 'attempt'> &
  Pick<Options, 'pageSize'>

/**
 * Scans the stored version records of an index, in pages. They have no sortable field, so the scan
 * holds a point in time and sorts by `_doc`. That number is unique within a shard only, so each
 * shard has a point in time of its own. It is opened right before the scan of its shard, so that it
 * does not expire.
 */
export async function* scanRecordHits(
  options: RecordScanOptions,
): AsyncGenerator<VersionRecordHit[]> {
  const { client, deadlineMs, index, attempt = (work) => work() } = options
  // Version records refresh rarely, and only a refresh makes them searchable.
  await attempt(() => refreshIndices(client, deadlineMs, [nameOf(index)]))
  const shards = await attempt(() => readShardCount(client, deadlineMs, nameOf(index)))
  for (let shard = 0; shard < shards; shard++) {
    const id = await attempt(() => openPointInTime(options, shard))
    yield* scanShard(options, id)
  }
}

/** Scans the shard of a point in time, then closes it. */
async function* scanShard(
  options: RecordScanOptions,
  id: string,
): AsyncGenerator<VersionRecordHit[]> {
  const { client, deadlineMs, pageSize = PAGE_SIZE } = options
  try {
    const body = { size: pageSize, sort: ['_doc'], pit: { id, keep_alive: KEEP_ALIVE } }
    yield* searchAfter(pageSize, (next) => readPage(options, { ...body, ...next }))
  } finally {
    const body = { pit_id: [id] }
    // Otherwise it expires.
    await read(deadlineMs, (call) => client.deletePit({ body }, call)).catch(() => {})
  }
}

async function openPointInTime(
  { client, index, deadlineMs }: RecordScanOptions,
  shard: number,
): Promise<string> {
  const name = nameOf(index)
  const request = { index: [name], keep_alive: KEEP_ALIVE, preference: primaryOf(shard) }
  const response: { pit_id?: unknown } = await read(deadlineMs, (call) =>
    client.createPit({ ...request, allow_partial_pit_creation: false }, call),
  )
  if (typeof response.pit_id === 'string') return response.pit_id
  throw new Unavailable(`OpenSearch returned no point in time for ${name}`)
}

export interface VersionRecordHit extends FoundVersionRecord {
  sort: readonly unknown[]
}

async function readPage(
  { client, deadlineMs }: RecordScanOptions,
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
  throw new Unavailable('the search response of OpenSearch has invalid version records')
}

const POINT_IN_TIME_LOST =
  'OpenSearch lost the point in time of the scan, as after the end of a node: try again'

function isVersionRecordHit(hit: unknown): hit is VersionRecordHit {
  const { _id, _source, sort } = Object(hit) as Partial<VersionRecordHit>
  return typeof _id === 'string' && Object(_source) === _source && Array.isArray(sort)
}
