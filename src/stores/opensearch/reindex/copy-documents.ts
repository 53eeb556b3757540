import { describeDamaged, REPAIR_HINT } from '../check/damaged-documents.ts'
import { readSourceBytes } from '../client/documents.ts'
import { newestWriteTimestamp, type ScannedHit, scanDocuments } from '../client/scan.ts'
import { parseStoredDocument, serializeDocument } from '../order-document.ts'
import { renderTombstone } from '../tombstone.ts'
import { externalVersion } from '../write/optimistic-concurrency.ts'
import {
  type DocumentOptions,
  documentAddress,
  type RetryOptions,
  readWrittenKeys,
  retry,
  sendItems,
  type VersionedDocument,
} from './versioned-documents.ts'

export interface CopyOptions extends DocumentOptions, RetryOptions {
  /** The live index, and the new one. */
  from: string
  to: string
  /** The alias of `to` for copies only. After its removal OpenSearch rejects a late copy. */
  alias: string
  /** Called after each page with its number of documents. */
  onPage(documents: number): void
}

const PAGE_SIZE = 500
/** Small, because an order may have megabytes. */
const BATCH_SIZE = 50

export interface PassResult {
  copied: number
  /** Documents that `to` still lacks, because a copy conflicted with a newer version. */
  remaining: number
}

/**
 * Copies what `to` lacks or has in an older version. The write timestamp is the version of a copy,
 * so a concurrent write or removal wins.
 * @throws Error with the ids of damaged documents, since a copy would keep the damage
 */
export async function copyMissing(options: CopyOptions): Promise<PassResult> {
  const { from, onPage, signal } = options
  const result = { copied: 0, remaining: 0 }
  for await (const page of scanVersions(options, from)) {
    const missing = await retry(options, () => findMissing(options, page))
    for (let at = 0; at < missing.length; at += BATCH_SIZE) {
      const batch = missing.slice(at, at + BATCH_SIZE)
      result.copied += await retry(options, () => copyBatch(options, batch))
    }
    result.remaining += (await retry(options, () => stillMissing(options, missing))).length
    signal?.throwIfAborted()
    onPage(page.length)
  }
  return result
}

/**
 * Removes from `to` what `from` lacks, and returns the number of documents. A document newer than
 * all of `from` stays: writers write to `to` first, so it is about to appear in `from`.
 */
export async function removeExtras(options: CopyOptions): Promise<number> {
  const { from, to, signal } = options
  const newest = await retry(options, () => newestWriteTimestamp({ ...options, index: from }))
  let removed = 0
  for await (const page of scanVersions(options, to)) {
    const older = page.filter(({ writtenKey }) => writtenKey < newest)
    const extras = await retry(options, () => findAbsent(options, from, older))
    removed += await retry(options, () => removeBatch(options, extras))
    signal?.throwIfAborted()
  }
  return removed
}

async function findMissing(
  options: CopyOptions,
  documents: readonly VersionedDocument[],
): Promise<VersionedDocument[]> {
  const existing = await readWrittenKeys(options, options.to, documents)
  return documents.filter(({ writtenKey }, at) => (existing[at] ?? -1) < writtenKey)
}

/** Excludes documents removed from `from` meanwhile. */
async function stillMissing(
  options: CopyOptions,
  documents: readonly VersionedDocument[],
): Promise<VersionedDocument[]> {
  const missing = await findMissing(options, documents)
  const existing = await readWrittenKeys(options, options.from, missing)
  return missing.filter((_, at) => existing[at] !== null)
}

async function* scanVersions(
  options: CopyOptions,
  index: string,
): AsyncGenerator<VersionedDocument[]> {
  const attempt = <T>(work: () => Promise<T>) => retry(options, work)
  const selection = { _source: false, docvalue_fields: ['written_key'] }
  const pages = scanDocuments({ ...options, index, pageSize: PAGE_SIZE, selection, attempt })
  for await (const page of pages) yield page.map(toVersionedDocument)
}

/**
 * Routes by the account, as every read does. A document with other routing is readable in an index of
 * one shard only, and its copy becomes readable in any.
 */
function toVersionedDocument({ _id, sort, fields }: ScannedHit): VersionedDocument {
  const _routing = sort?.[0]
  const writtenKey = fields?.['written_key']?.[0]
  if (typeof _routing === 'string' && typeof writtenKey === 'number') {
    return { _id, _routing, writtenKey }
  }
  throw new Error(`the document ${_id} lacks a key field: "index check" lists all such documents`)
}

async function findAbsent(
  options: CopyOptions,
  index: string,
  documents: readonly VersionedDocument[],
): Promise<VersionedDocument[]> {
  const existing = await readWrittenKeys(options, index, documents)
  return documents.filter((_, at) => existing[at] === null)
}

async function copyBatch(
  options: CopyOptions,
  documents: readonly VersionedDocument[],
): Promise<number> {
  const { client, deadlineMs, from } = options
  const docs = documents.map(documentAddress)
  const sources = await readSourceBytes(client, deadlineMs, { index: from, docs })
  const damaged: string[] = []
  const items = docs.flatMap((address, at) => {
    const source = sources[at]
    if (!source) return [] // Removed since the scan.
    const document = parseStoredDocument(source)
    if (document === null) {
      damaged.push(address._id)
      return []
    }
    const action = { index: { ...address, ...externalVersion(document.writtenKey) } }
    return [`${JSON.stringify(action)}\n${serializeDocument(document)}\n`]
  })
  if (damaged.length > 0) {
    throw new Error(
      `${describeDamaged(from, damaged)}. ${REPAIR_HINT}. Then "index reindex" continues; "--rollback" removes the copy`,
    )
  }
  return sendItems(options, options.alias, items)
}

async function removeBatch(
  options: CopyOptions,
  documents: readonly VersionedDocument[],
): Promise<number> {
  const items = documents.map(({ _id, _routing, writtenKey }) => {
    // Newer than this version only: a concurrent write has this timestamp or a later one, and wins.
    const writeTimestamp = writtenKey + 1
    const action = { index: { _id, routing: _routing, ...externalVersion(writeTimestamp) } }
    return `${JSON.stringify(action)}\n${renderTombstone(writeTimestamp)}\n`
  })
  return sendItems(options, options.alias, items)
}
