import { setTimeout as pause } from 'node:timers/promises'
import { backoffMs } from '../../../lib/async/backoff.ts'
import { readAhead } from '../../../lib/async/read-ahead.ts'
import { LACKS_SORT_KEYS, scanDocuments } from '../client/search/scan.ts'
import { describeDamaged, findDamaged } from '../order-documents/damaged-documents.ts'
import { type CopyOptions, copyDifferences } from './copy-documents.ts'
import type { IndexVersions } from './index-versions.ts'
import { type DocumentOptions, type RetryOptions, retry } from './versioned-documents.ts'

export interface BackfillOptions extends Omit<CopyOptions, 'onPage'> {
  versions: IndexVersions
  /** Documents scanned in this comparison, of the total. */
  onProgress(scanned: number, total: number): void
}

/**
 * With the pauses in between longer than a lease, so that a new writer can revert partial writes.
 */
const MAX_COMPARISONS = 10

/**
 * Copies and removes documents until a comparison finds no difference, while writers write to
 * both indices: see `reindex.md`.
 * @throws Unavailable; Error when the indices differ after all comparisons, or a document is
 *   damaged
 */
export async function backfill(
  options: BackfillOptions,
): Promise<{ copied: number; removed: number }> {
  const { versions, from, to, onProgress, signal } = options
  const totals = { copied: 0, removed: 0 }
  await versions.refresh(from)
  await checkSortKeys(options)
  for (let comparison = 1; ; comparison++) {
    const total = await versions.count(from)
    let scanned = 0
    const onPage = (documents: number) => {
      scanned += documents
      onProgress(scanned, Math.max(scanned, total))
    }
    for (const index of [from, to]) await versions.refresh(index)
    const { copied, remaining, removed } = await copyDifferences({ ...options, onPage })
    totals.copied += copied
    totals.removed += removed
    if (copied + remaining + removed === 0) {
      scanned = 0
      await versions.refresh(to)
      // An earlier attempt may have left a damaged copy.
      await verifyChecksums({ ...options, index: to, nextStep: COPY_AGAIN_HINT, onPage })
      return totals
    }
    if (comparison === MAX_COMPARISONS) {
      throw new Error(
        `${to} still differed from ${from} after ${MAX_COMPARISONS} comparisons: "index reindex" continues, "--rollback" removes ${to}`,
      )
    }
    await pause(backoffMs(comparison), undefined, { signal })
  }
}

const COPY_AGAIN_HINT =
  'Run "index reindex --rollback", which removes this copy, then "index reindex" again'

/** A scan omits documents without sort keys, so a reindex would lose them. */
async function checkSortKeys({ versions, from }: BackfillOptions): Promise<void> {
  const count = await versions.count(from, LACKS_SORT_KEYS)
  if (count === 0) return
  throw new Error(
    `${count} documents of ${from} have no account or no id: remove those that "index check" lists, then try again`,
  )
}

export interface VerificationOptions extends DocumentOptions, RetryOptions {
  index: string
  /** The next step for an operator when documents are damaged. */
  nextStep: string
  /** Called after each page with its number of documents. */
  onPage(documents: number): void
}

const PAGE_SIZE = 500

/**
 * Verifies the checksum of every document of an index that a search finds.
 * @throws Error with the ids of damaged documents
 */
export async function verifyChecksums(options: VerificationOptions): Promise<void> {
  const { index, aliasOf, nextStep, onPage, signal } = options
  const attempt = <T>(work: () => Promise<T>) => retry(options, work)
  const search = { ...options, index: () => aliasOf(index), attempt }
  const selection = { _source: ['frame'] }
  const pages = readAhead(scanDocuments({ ...search, pageSize: PAGE_SIZE, selection }))
  for await (const page of pages) {
    const damaged = await findDamaged(search, page)
    if (damaged.size > 0) throw new Error(`${describeDamaged(index, [...damaged])}. ${nextStep}`)
    signal?.throwIfAborted()
    onPage(page.length)
  }
}
