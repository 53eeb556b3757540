import { Unavailable } from '../../../lib/errors/unavailable.ts'
import { sendBulk } from '../client/bulk/bulk-request.ts'
import { describeResult, outcomeOf } from '../client/bulk/bulk-response.ts'
import type { OpenSearch } from '../client/client.ts'
import {
  type MgetDocument,
  readDocuments,
  readSourceBytes,
} from '../client/documents/read-documents.ts'
import { REMOVED_FIELD, renderTombstone } from '../client/documents/tombstone.ts'
import {
  newestWriteTimestamp,
  type ScannedHit,
  scanDocuments,
  searchPrimary,
} from '../client/search/scan.ts'
import { searchAfter } from '../client/search/search-after.ts'
import { readShardCount } from '../client/shards.ts'
import { describeDamaged, REPAIR_HINT } from '../order-documents/damaged-documents.ts'
import { parseStoredDocument, serializeDocument } from '../order-documents/order-document-source.ts'
import { sameExternalVersion } from './optimistic-concurrency.ts'

export interface RevertOptions {
  client: OpenSearch
  /** For each request, the response body included. */
  deadlineMs: number
  /** Runs each read, with retries while its node does not know an alias. */
  attempt<T>(work: () => Promise<T>): Promise<T>
  /** The source of truth. */
  liveIndex: string
  /** Its alias of this epoch, which a node that missed the fence does not know. */
  liveAlias: string
  /** Another write target. */
  index: string
  /** Its write alias of this epoch. */
  alias: string
  /** Receives the ids of damaged documents that were not copied. */
  onDelay(reason: string): void
}

const PAGE_SIZE = 200
/** An order may have megabytes. */
const DOCUMENTS_AT_A_TIME = 50

/**
 * Reverts writes in `index` that never reached the live index: see `lease/fence.md`. Runs only
 * while the fence is raised, everything is refreshed and no bulk runs. Returns whether there were
 * any.
 */
export async function revertPartialWrites(options: RevertOptions): Promise<boolean> {
  const { client, deadlineMs, attempt, liveAlias, alias } = options
  const newest = await attempt(() => newestWriteTimestamp({ client, deadlineMs, index: liveAlias }))
  let reverted = 0
  for await (const page of scanTombstones(options, newest))
    reverted += await revertPage(options, page)
  // Inclusive: a rejected item has the write timestamp of the accepted items of its bulk.
  const filter = [{ range: { written_key: { gte: newest } } }]
  const scan = { client, deadlineMs, attempt, index: alias, pageSize: PAGE_SIZE, filter }
  const pages = scanDocuments({ ...scan, selection: WITHOUT_SOURCE })
  for await (const page of pages) reverted += await revertPage(options, page)
  return reverted > 0
}

const WITHOUT_SOURCE = { _source: false }

/**
 * Tombstones from this write timestamp on. `scanDocuments` omits them: they lack its sort keys.
 * Each shard is scanned by itself, because a sequence number is unique within a shard only.
 */
async function* scanTombstones(
  options: RevertOptions,
  newest: number,
): AsyncGenerator<readonly ScannedHit[]> {
  const { client, deadlineMs, attempt, alias } = options
  const shards = await attempt(() => readShardCount(client, deadlineMs, alias))
  for (let shard = 0; shard < shards; shard++) yield* scanShard(options, newest, shard)
}

function scanShard(
  options: RevertOptions,
  newest: number,
  shard: number,
): AsyncGenerator<readonly ScannedHit[]> {
  const { client, deadlineMs, attempt, alias } = options
  const search = { client, deadlineMs, index: alias }
  const body = {
    ...WITHOUT_SOURCE,
    size: PAGE_SIZE,
    query: { range: { [REMOVED_FIELD]: { gte: newest } } },
    sort: [{ [REMOVED_FIELD]: 'asc' }, { _seq_no: 'asc' }],
  }
  return searchAfter(PAGE_SIZE, (next) =>
    attempt(() => searchPrimary(search, { ...body, ...next }, shard)),
  )
}

/** Returns the number of reverted documents. */
async function revertPage(options: RevertOptions, page: readonly ScannedHit[]): Promise<number> {
  const { client, deadlineMs, attempt, liveAlias, alias } = options
  const docs = page.map(({ _id, _routing = '' }) => ({ _id, routing: _routing }))
  const request = { docs, _source: ['written_key'] }
  const [live, target] = await Promise.all([
    attempt(() => readDocuments(client, deadlineMs, { index: liveAlias, ...request })),
    attempt(() => readDocuments(client, deadlineMs, { index: alias, ...request })),
  ])
  const divergent = docs.flatMap((address, at) => divergenceOf(address, live[at], target[at]))
  let reverted = 0
  for (let at = 0; at < divergent.length; at += DOCUMENTS_AT_A_TIME) {
    reverted += await revertDocuments(options, divergent.slice(at, at + DOCUMENTS_AT_A_TIME))
  }
  return reverted
}

/** A document or tombstone that differs from the live index. */
interface Divergence {
  address: { _id: string; routing: string }
  /** In OpenSearch, at least the write timestamp. */
  version: number
  /** Write timestamp of the document to replace, epoch milliseconds; `null` for a tombstone. */
  writeTimestamp: number | null
}

function divergenceOf(
  address: Divergence['address'],
  live: MgetDocument | undefined,
  target: MgetDocument | undefined,
): Divergence[] {
  if (target === undefined) return []
  const { _version: version } = target
  if (version === undefined) {
    if (!target.found) return []
    throw new Unavailable(`OpenSearch returned ${address._id} without its version`)
  }
  const isConsistent = target.found
    ? writeTimestampOf(target) === writeTimestampOf(live)
    : !live?.found
  if (isConsistent) return []
  return [
    { address, version, writeTimestamp: target.found ? Number(writeTimestampOf(target)) : null },
  ]
}

function writeTimestampOf(document: MgetDocument | undefined): unknown {
  return Object(document?._source)['written_key']
}

async function revertDocuments(
  options: RevertOptions,
  divergent: readonly Divergence[],
): Promise<number> {
  const { client, deadlineMs, attempt, liveIndex, liveAlias, index, alias, onDelay } = options
  const docs = divergent.map(({ address }) => address)
  const request = { index: liveAlias, docs }
  const sources = await attempt(() => readSourceBytes(client, deadlineMs, request))
  const damaged: string[] = []
  const lines = divergent.flatMap(({ address, version, writeTimestamp }, at) => {
    const source = sources[at]
    const document = source ? parseStoredDocument(source) : null
    if (source && document === null) damaged.push(address._id)
    const replacement =
      document === null ? replacementTombstone(writeTimestamp) : serializeDocument(document)
    if (replacement === null) return []
    const action = { index: { ...address, ...sameExternalVersion(version) } }
    return [`${JSON.stringify(action)}\n${replacement}\n`]
  })
  if (damaged.length > 0) onDelay(`${describeDamaged(liveIndex, damaged)}. ${REPAIR_HINT}`)
  const results = await sendBulk(client, deadlineMs, { alias, lines })
  const failed = results.find((result) => outcomeOf(result) !== 'accepted')
  if (failed) throw new Unavailable(`${index} rejected a document: ${describeResult(failed)}`)
  return lines.length
}

/**
 * The tombstone for a document absent from the live index; `null` when it is a tombstone already.
 */
function replacementTombstone(writeTimestamp: Divergence['writeTimestamp']): string | null {
  return writeTimestamp === null ? null : renderTombstone(writeTimestamp)
}
