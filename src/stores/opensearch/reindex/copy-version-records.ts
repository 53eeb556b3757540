import { setTimeout as pause } from 'node:timers/promises'
import { backoffMs } from '../../../lib/async/backoff.ts'
import { readAhead } from '../../../lib/async/read-ahead.ts'
import { Unavailable } from '../../../lib/errors/unavailable.ts'
import { documentState } from '../client/documents/document-state.ts'
import { readDocuments } from '../client/documents/read-documents.ts'
import { scanRecordHits, type VersionRecordHit } from '../inspection/version-record-scan.ts'
import { toVersionRecord } from '../version-record-document.ts'
import {
  type DocumentOptions,
  type RetryOptions,
  retry,
  sendCopies,
} from './versioned-documents.ts'

export interface CopyRecordsOptions extends DocumentOptions, RetryOptions {
  /** The index of version records that is read, and the new one. */
  from: string
  to: string
  /** The alias of `to` for copies only. After its removal OpenSearch rejects a late copy. */
  alias: string
}

const MAX_COMPARISONS = 10

/**
 * Copies version records until a comparison finds none that `to` lacks, while writers write to both
 * indices: see `reindex.md`.
 * @throws Unavailable; Error when records are missing after all comparisons, or one is damaged
 */
export async function copyVersionRecords(options: CopyRecordsOptions): Promise<void> {
  const { from, to, signal } = options
  // Ids of records whose copies have no response: the primary alone may have them.
  const unconfirmed = new Set<string>()
  for (let comparison = 1; ; comparison++) {
    // Repeated as a whole, because the point in time of its scan may be lost with a node.
    const pages = { done: 0 }
    const behind = await retry(options, () => copyBehind(options, unconfirmed, pages)).catch(
      (error) => {
        // A long one that fails near its end has used up its retries, so another one continues.
        const isRepeated = pages.done > 0 && comparison < MAX_COMPARISONS
        if (error instanceof Unavailable && isRepeated) return null
        throw error
      },
    )
    if (behind === 0) return
    if (comparison === MAX_COMPARISONS) {
      throw new Error(
        `${to} still lacked records of ${from} after ${MAX_COMPARISONS} comparisons: "index reindex" continues, "--rollback" removes ${to}`,
      )
    }
    await pause(backoffMs(comparison), undefined, { signal })
  }
}

/**
 * Copies what `to` lacks or has in an older version, and what is not confirmed. Returns how many
 * records that were.
 */
async function copyBehind(
  options: CopyRecordsOptions,
  unconfirmed: Set<string>,
  pages: { done: number },
): Promise<number> {
  const { from, aliasOf, alias, signal } = options
  const attempt = <T>(work: () => Promise<T>) => retry(options, work)
  const scan = { ...options, index: () => aliasOf(from), attempt }
  let behind = 0
  for await (const page of readAhead(scanRecordHits(scan))) {
    await attempt(async () => {
      const copies = await findBehind(options, unconfirmed, page)
      behind += copies.length
      for (const { id } of copies) unconfirmed.add(id)
      const lines = copies.map(({ line }) => line)
      const accepted = await sendCopies(options, alias, lines)
      if (accepted === copies.length) for (const { id } of copies) unconfirmed.delete(id)
    })
    pages.done++
    signal?.throwIfAborted()
  }
  return behind
}

/**
 * The lines of each copy. A record that a writer changed since conflicts with its copy. An
 * unconfirmed copy is replaced by itself: a writer may have changed what events announced of the
 * same version.
 */
async function findBehind(
  { client, deadlineMs, to, aliasOf }: CopyRecordsOptions,
  unconfirmed: ReadonlySet<string>,
  page: readonly VersionRecordHit[],
): Promise<{ id: string; line: string }[]> {
  const docs = page.map(({ _id }) => ({ _id }))
  const isConfirmed = !page.some(({ _id }) => unconfirmed.has(_id))
  const request = { index: aliasOf(to), docs, ...(isConfirmed && { _source: ['version'] }) }
  const existing = await readDocuments(client, deadlineMs, request)
  return page.flatMap((hit, at) => {
    const { _id, _source } = hit
    const { version } = toVersionRecord(hit) // A copy would keep the damage.
    const there = existing[at]
    const versionThere = there?.found ? Number(Object(there._source)['version']) : -1
    if (versionThere > version || (versionThere === version && !unconfirmed.has(_id))) return []
    const action = there?.found ? { index: { _id, ...documentState(there) } } : { create: { _id } }
    const source = versionThere === version ? there?._source : _source
    return [{ id: _id, line: `${JSON.stringify(action)}\n${JSON.stringify(source)}\n` }]
  })
}
