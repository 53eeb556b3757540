import { readSourceBytes } from '../client/documents/read-documents.ts'
import { renderTombstone } from '../client/documents/tombstone.ts'
import { orderByteLength } from '../order-documents/checksum-header.ts'
import { describeDamaged, REPAIR_HINT } from '../order-documents/damaged-documents.ts'
import { documentBatches } from '../order-documents/document-batches.ts'
import { parseStoredDocument, serializeDocument } from '../order-documents/order-document-source.ts'
import { externalVersion, sameExternalVersion } from '../write/optimistic-concurrency.ts'
import { type CompareOptions, compareIndices } from './compare-indices.ts'
import {
  documentAddress,
  readWrittenKeys,
  retry,
  sendCopies,
  type VersionedDocument,
} from './versioned-documents.ts'

/** The live index is `from`, and the new one `to`. */
export interface CopyOptions extends CompareOptions {
  /** The alias of `to` for copies only. After its removal OpenSearch rejects a late copy. */
  alias: string
  /**
   * What `to` has from this write timestamp on may be written to both indices, epoch milliseconds.
   * It is no leftover: it may be about to appear in `from`, or an outdated read of `from` lacks it.
   */
  dualSinceMs: number
  /** Called after each range, with the number of its documents in `from`. */
  onPage(documents: number): void
}

export interface CopyResult {
  copied: number
  /** Documents that `to` still lacks, because a copy conflicted with a newer version. */
  remaining: number
  removed: number
}

/**
 * Copies what `to` lacks or has in an older version, and removes what `from` lacks. The write
 * timestamp is the version of a copy, so a concurrent write or removal wins.
 * @throws Unavailable; Error with the ids of damaged documents, since a copy would keep the damage
 */
export async function copyDifferences(options: CopyOptions): Promise<CopyResult> {
  const { onPage, signal } = options
  const result = { copied: 0, remaining: 0, removed: 0 }
  for await (const { missing, extra, scanned } of compareIndices(options)) {
    for (const batch of documentBatches(missing, ({ checksumHeader }) =>
      orderByteLength(checksumHeader),
    )) {
      const changed = await copyConfirmed(options, batch)
      result.copied += changed
      if (changed < batch.length)
        result.remaining += await retry(options, () => countMissing(options, batch))
      signal?.throwIfAborted()
    }
    result.removed += await removeExtras(options, extra)
    signal?.throwIfAborted()
    onPage(scanned)
  }
  return result
}

/**
 * The first attempt changes only what `to` lacks. A repetition replaces its own copies too, because
 * a conflict with one does not show that every shard copy has it.
 */
function copyConfirmed(options: CopyOptions, batch: readonly VersionedDocument[]): Promise<number> {
  let versionOf = externalVersion
  return retry(options, () => {
    const copied = copyBatch(options, batch, versionOf)
    versionOf = sameExternalVersion
    return copied
  })
}

/**
 * Reads the orders right before it writes them, also in a retry. So a command that was suspended
 * holds few orders which another one, after a rollback, has erased.
 */
async function copyBatch(
  options: CopyOptions,
  documents: readonly VersionedDocument[],
  versionOf: typeof externalVersion,
): Promise<number> {
  const { client, deadlineMs, from, aliasOf } = options
  const docs = documents.map(documentAddress)
  const sources = await readSourceBytes(client, deadlineMs, { index: aliasOf(from), docs })
  const damaged: string[] = []
  const items = docs.flatMap((address, at) => {
    const source = sources[at]
    if (!source) return [] // Removed since the scan.
    const document = parseStoredDocument(source)
    if (document === null) {
      damaged.push(address._id)
      return []
    }
    const action = { index: { ...address, ...versionOf(document.writtenKey) } }
    return [`${JSON.stringify(action)}\n${serializeDocument(document)}\n`]
  })
  if (damaged.length > 0) {
    throw new Error(
      `${describeDamaged(from, damaged)}. ${REPAIR_HINT}. Then "index reindex" continues; "--rollback" removes the copy`,
    )
  }
  return sendCopies(options, options.alias, items)
}

/**
 * The number of documents that `to` lacks or has in an older version. Those that were removed from
 * `from` are not counted.
 */
async function countMissing(
  options: CopyOptions,
  documents: readonly VersionedDocument[],
): Promise<number> {
  const copies = await readWrittenKeys(options, options.to, documents)
  const missing = documents.filter(({ writtenKey }, at) => (copies[at] ?? -1) < writtenKey)
  const existing = await readWrittenKeys(options, options.from, missing)
  return existing.filter((writtenKey) => writtenKey !== null).length
}

/** Removes from `to` what `from` lacks, and returns the number of documents. */
async function removeExtras(
  { dualSinceMs, ...options }: CopyOptions,
  candidates: readonly VersionedDocument[],
): Promise<number> {
  const older = candidates.filter(({ writtenKey }) => writtenKey < dualSinceMs)
  const existing = await retry(options, () => readWrittenKeys(options, options.from, older))
  const extras = older.filter((_, at) => existing[at] === null)
  return retry(options, () => sendCopies(options, options.alias, extras.map(renderRemoval)))
}

function renderRemoval({ _id, _routing, writtenKey }: VersionedDocument): string {
  // Newer than this version only: a concurrent write is later, see `dualSinceMs`, and wins.
  const writeTimestamp = writtenKey + 1
  const action = { index: { _id, routing: _routing, ...sameExternalVersion(writeTimestamp) } }
  return `${JSON.stringify(action)}\n${renderTombstone(writeTimestamp)}\n`
}
