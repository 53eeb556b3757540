import {
  type FoundDocument,
  type IndexTarget,
  refreshIndex,
  searchPages,
} from '../search/document-search.ts'
import { type LinearizableSearch, searchLinearizable } from '../search/linearizable-search.ts'
import { type DocumentWrite, sendWrites } from './send-writes.ts'

/** Sources of these documents are in memory at a time. */
const PAGE_SIZE = 1_000

/** The documents to write, in the order of the writes. */
export type MatchingDocuments = Pick<LinearizableSearch, 'query' | 'sort'>

/**
 * Writes what `writeOf` returns for each document that matches: a write that has the document's
 * state as its condition, or `null` for none. Documents that change meanwhile are visited again;
 * each is written once at most. Returns the number of written documents, which searches then see.
 * @throws like {@link sendWrites}; a repetition continues the work
 */
export async function writeMatching(
  target: IndexTarget,
  matching: MatchingDocuments,
  writeOf: (document: FoundDocument) => DocumentWrite | null,
): Promise<number> {
  const written = new Set<string>()
  for (;;) if (await writePass()) return written.size

  /** Visits what matches during the pass. Whether it found nothing to write. */
  async function writePass(): Promise<boolean> {
    let isDone = true
    for await (const page of searchLinearizable(target, { ...matching, pageSize: PAGE_SIZE })) {
      const work = page.flatMap((document) => {
        const write = written.has(document.id) ? null : writeOf(document)
        return write === null ? [] : [{ id: document.id, write }]
      })
      if (work.length > 0) isDone = false
      const outcomes = await sendWrites(
        target,
        work.map(({ write }) => write),
      )
      work.forEach(({ id }, at) => {
        if (outcomes[at] !== 'conflict') written.add(id)
      })
    }
    return isDone
  }
}

/** Removes the documents that match. Those that change meanwhile stay if they no longer match. */
export async function removeMatching(target: IndexTarget, query: object): Promise<void> {
  await writeMatching(target, { query }, removalOf)
}

/**
 * Removes the documents that match, for a caller that repeats this: those that change meanwhile, or
 * that an outdated copy lacks, stay until then.
 */
export async function purgeMatching(target: IndexTarget, query: object): Promise<void> {
  await refreshIndex(target)
  for await (const page of searchPages(target, { query, sort: [], pageSize: PAGE_SIZE }))
    await sendWrites(target, page.map(removalOf))
}

const removalOf = ({ id, state }: FoundDocument): DocumentWrite => ({
  action: { delete: { _id: id, ...state } },
})
