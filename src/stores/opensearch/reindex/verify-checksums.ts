import { describeDamaged, findDamaged } from '../check/damaged-documents.ts'
import { scanDocuments } from '../client/scan.ts'
import { type RetryOptions, retry } from './retry.ts'
import type { DocumentOptions } from './versioned-documents.ts'

export interface VerificationOptions extends DocumentOptions, RetryOptions {
  index: string
  /** What to do about damaged documents, in words for an operator. */
  nextStep: string
  /** Told after every page how many documents it had. */
  onPage(documents: number): void
}

const PAGE_SIZE = 500

/**
 * Checks every document of an index that can be found against its frame.
 * @throws Error naming those that are not as they were written
 */
export async function verifyChecksums(options: VerificationOptions): Promise<void> {
  const { index, nextStep, onPage, signal } = options
  const attempt = <T>(work: () => Promise<T>) => retry(options, work)
  const search = { ...options, attempt }
  const selection = { _source: ['frame'] }
  for await (const page of scanDocuments({ ...search, pageSize: PAGE_SIZE, selection })) {
    const damaged = await findDamaged(search, page)
    if (damaged.size > 0) throw new Error(`${describeDamaged(index, [...damaged])}. ${nextStep}`)
    signal?.throwIfAborted()
    onPage(page.length)
  }
}
