import { findDamaged, tellDamaged } from '../damage.ts'
import { walkDocuments } from '../document-walk.ts'
import type { DocumentsOptions } from './documents.ts'
import { type Patience, patiently } from './patience.ts'

export interface UndamagedOptions extends DocumentsOptions, Patience {
  index: string
  /** What to do about damaged documents, in words for an operator. */
  wayOut: string
  /** Told after every page how many documents it had. */
  onPage(documents: number): void
}

const PAGE_SIZE = 500

/**
 * Checks every document of an index that can be found against its frame.
 * @throws Error naming those that are not as they were written
 */
export async function expectUndamaged(options: UndamagedOptions): Promise<void> {
  const { index, wayOut, onPage, signal } = options
  const attempt = <T>(work: () => Promise<T>) => patiently(options, work)
  const search = { ...options, attempt }
  const wanted = { _source: ['frame'] }
  for await (const page of walkDocuments({ ...search, pageSize: PAGE_SIZE, wanted })) {
    const damaged = await findDamaged(search, page)
    if (damaged.size > 0) throw new Error(`${tellDamaged(index, [...damaged])}. ${wayOut}`)
    signal?.throwIfAborted()
    onPage(page.length)
  }
}
