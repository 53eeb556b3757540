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
  /** The index that is read, and the one that is to have the same. */
  from: string
  to: string
  /** The alias of `to` for this alone: once it is gone, a copy that comes late goes nowhere. */
  alias: string
  /** Told after every page how many documents it had. */
  onPage(documents: number): void
}

const PAGE_SIZE = 500
/** An order may have megabytes. */
const BATCH_SIZE = 50

/** What a look at two indices found, and did. */
export interface PassResult {
  copied: number
  /** Documents that `to` still does not have: something newer of them is, or was, in it. */
  remaining: number
}

/**
 * Copies what `to` does not have, or has in an older version. The stamp of a document is its version: what a
 * writer wrote or removed meanwhile is newer, and stays.
 * @throws Error naming documents that are not as they were written: a copy would keep the damage
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
 * Removes from `to` what `from` does not have, and tells how many documents that were. Only what has an older
 * stamp than everything that is written from now on: writers write to `to` first, so what is newer is about
 * to be in `from`.
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

/** Of those that were missing; one that was removed meanwhile is missing no more. */
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

function toVersionedDocument({ _id, _routing, fields }: ScannedHit): VersionedDocument {
  const writtenKey = fields?.['written_key']?.[0]
  if (typeof _routing === 'string' && typeof writtenKey === 'number') {
    return { _id, _routing, writtenKey }
  }
  throw new Error(`the document ${_id} lacks a key field: "index check" tells which are like it`)
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
    if (!source) return [] // Removed since it was found.
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
      `${describeDamaged(from, damaged)}. ${REPAIR_HINT}. Then "index reindex" goes on; "--rollback" gives it up`,
    )
  }
  return sendItems(options, options.alias, items)
}

async function removeBatch(
  options: CopyOptions,
  documents: readonly VersionedDocument[],
): Promise<number> {
  const items = documents.map(({ _id, _routing, writtenKey }) => {
    // The next stamp: a document that was written anew meanwhile has that one, or a later one.
    const writeTimestamp = writtenKey + 1
    const action = { index: { _id, routing: _routing, ...externalVersion(writeTimestamp) } }
    return `${JSON.stringify(action)}\n${renderTombstone(writeTimestamp)}\n`
  })
  return sendItems(options, options.alias, items)
}
