import { setTimeout as pause } from 'node:timers/promises'

export interface PublicOrder {
  id: string
  updated_at: string | null
}

interface Page {
  data: PublicOrder[]
  has_more: boolean
  next_cursor: string | null
}

/** A copy of an account's orders, kept as the README advises. */
export interface Follower {
  /** The newest that was seen of each order. */
  copy: ReadonlyMap<string, PublicOrder>
  /** Reads again what may be new, once to the end. */
  follow(): Promise<void>
}

const RETRY_MS = 50
const LIMIT = 100

/** Walks `updated_at_asc` to the end, then again and again from the greatest `updated_at` that it saw. */
export function createFollower(baseUrl: string, key: string): Follower {
  const copy = new Map<string, PublicOrder>()
  let greatest: string | null = null

  async function readPage(query: string): Promise<Page> {
    const headers = { authorization: `Bearer ${key}` }
    for (;;) {
      const response = await fetch(`${baseUrl}/v1/orders?${query}`, { headers })
      if (response.ok) return (await response.json()) as Page
      const answer = await response.text()
      if (response.status !== 503) throw new Error(`${response.status}: ${answer}`)
      await pause(RETRY_MS)
    }
  }

  return {
    copy,
    async follow() {
      const from = greatest === null ? '' : `&updated_gte=${greatest}`
      const query = `sort=updated_at_asc&limit=${LIMIT}${from}`
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page: Page = await readPage(cursor === '' ? query : `${query}&cursor=${cursor}`)
        for (const order of page.data) {
          copy.set(order.id, order)
          if (greatest === null || (order.updated_at ?? '') > greatest) greatest = order.updated_at
        }
        cursor = page.next_cursor
      }
    },
  }
}
