import { setTimeout as sleep } from 'node:timers/promises'
import type { Generator } from '../measuring/generator.ts'
import type { ShownOrder } from './ledger.ts'

export interface PagerOptions {
  generator: Generator
  key: string
  /** It follows what was updated from then on. */
  from: string
  /** Told the rows of each page, and when its last byte had come, on `performance.now()`. */
  onPage(orders: readonly ShownOrder[], atMs: number): void
  /** Told why a page was not given; it is asked for again. */
  onFailure(reason: string): void
  /** Ends it. */
  signal: AbortSignal
}

/** Between the end of a listing and its next reading: it adds to the lag that is measured. */
export const POLL_MS = 100
const LIMIT = 100

interface Page {
  data: (ShownOrder & { updated_at: string })[]
  next_cursor: string | null
}

/** Follows an account's `updated_at_asc` as the README advises: from the greatest `updated_at`, again and again. */
export async function follow(options: PagerOptions): Promise<void> {
  const { generator, key, onPage, onFailure, signal } = options
  let greatest = options.from
  while (!signal.aborted) {
    try {
      await readToEnd()
    } catch (error) {
      if (!signal.aborted) onFailure(error instanceof Error ? error.message : String(error))
    }
    await sleep(POLL_MS, undefined, { signal }).catch(() => {})
  }

  async function readToEnd(): Promise<void> {
    const listing = { sort: 'updated_at_asc', updated_gte: greatest, limit: `${LIMIT}` }
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query = new URLSearchParams({ ...listing, ...(cursor && { cursor }) })
      const headers = { authorization: `Bearer ${key}` }
      const bytes = await generator.ask({ method: 'GET', path: `/v1/orders?${query}`, headers })
      const atMs = performance.now()
      const page: Page = JSON.parse(bytes.toString())
      onPage(page.data, atMs)
      greatest = page.data.at(-1)?.updated_at ?? greatest
      cursor = page.next_cursor
    }
  }
}
