import type { Generator, LoadRequest } from '../measuring/generator.ts'
import type { Place } from './places.ts'

/** Which listing a walk goes through, and as whom. */
export interface Walk {
  generator: Generator
  key: string
  /** All of one listing, in its order. */
  places: readonly Place[]
  signal: AbortSignal
}

const LARGEST_PAGE = 100

/** Walks an account's listing through the API, from its beginning, for a cursor at each place. */
export async function walkToPlaces({ generator, key, places, signal }: Walk): Promise<string[]> {
  const cursors: string[] = []
  let cursor: string | null = null
  let rows = 0
  for (const { sort, rowsBefore } of places) {
    while (rows < rowsBefore) {
      signal.throwIfAborted()
      const limit = Math.min(LARGEST_PAGE, rowsBefore - rows)
      const bytes = await generator.ask(pageRequest({ key, sort, limit, cursor }))
      const page: { next_cursor: string | null } = JSON.parse(bytes.toString())
      cursor = page.next_cursor
      if (cursor === null) throw new Error(`the listing ended before ${rowsBefore} orders`)
      rows += limit
    }
    cursors.push(cursor ?? '')
  }
  return cursors
}

interface PageOptions {
  key: string
  sort: Place['sort']
  limit: number
  cursor: string | null
}

/** The request of a page, as an integrator sends it. */
export function pageRequest({ key, sort, limit, cursor }: PageOptions): LoadRequest {
  const query = new URLSearchParams({ sort, limit: `${limit}`, ...(cursor && { cursor }) })
  return {
    method: 'GET',
    path: `/v1/orders?${query}`,
    headers: { authorization: `Bearer ${key}` },
  }
}
