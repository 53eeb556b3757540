import type { PagerState } from '../../../src/orders/cursor.ts'
import {
  NULL_INSTANT_KEY,
  type OrderStore,
  type PageQuery,
  type Position,
  type RenderedOrder,
} from '../../../src/orders/order-store.ts'
import { type Page, readPage } from '../../../src/orders/paging.ts'
import { listing } from '../../support/orders/cursors.ts'

interface Row {
  id: string
  created: number
  updated: number | null
  written: number
}

/** An order store over an array; writes are visible at once, in the order of their timestamps. */
export interface ArrayOrderStore extends OrderStore {
  /** Writes orders in one bulk; those in `undated` have no `updated_at`. */
  write(...ids: string[]): void
  writeUndated(...ids: string[]): void
  remove(id: string): void
  /** Callbacks before and after the next mark is read. */
  beforeMark: () => void
  afterMark: () => void
  searches: number
  marks: number
}

const isAfter = (one: Position, other: Position) =>
  one.key === other.key ? one.id > other.id : one.key > other.key

export function createArrayOrderStore(): ArrayOrderStore {
  const rows = new Map<string, Row>()
  let writeTimestamp = 1000

  function write(ids: string[], isDated: boolean) {
    writeTimestamp++
    for (const id of ids) {
      const created = rows.get(id)?.created ?? writeTimestamp
      rows.set(id, {
        id,
        created,
        updated: isDated ? writeTimestamp : null,
        written: writeTimestamp,
      })
    }
  }

  function rendered({ id, created, updated, written }: Row, sort: PageQuery['sort']) {
    const key = sort === 'created_at_desc' ? created : (updated ?? NULL_INSTANT_KEY)
    return { key, id, json: Buffer.from(`${id}@${written}`), tag: `${written}` }
  }

  const store: ArrayOrderStore = {
    beforeMark: () => {},
    afterMark: () => {},
    searches: 0,
    marks: 0,
    write: (...ids) => write(ids, true),
    writeUndated: (...ids) => write(ids, false),
    remove: (id) => rows.delete(id),

    async findPage({ sort, after, nullsWrittenAfter, size }) {
      store.searches++
      const isDescending = sort === 'created_at_desc'
      return [...rows.values()]
        .filter(({ id, updated, written }) => {
          const isOld = nullsWrittenAfter && !isAfter({ key: written, id }, nullsWrittenAfter)
          return updated !== null || !isOld
        })
        .map((row) => rendered(row, sort))
        .filter((row) => !after || (isDescending ? isAfter(after, row) : isAfter(row, after)))
        .sort((one, other) => (isAfter(one, other) === isDescending ? -1 : 1))
        .slice(0, size)
    },

    async latestWrite() {
      store.marks++
      store.beforeMark()
      const marks = [...rows.values()].map(({ id, written }) => ({ key: written, id }))
      const mark = marks.sort((one, other) => (isAfter(one, other) ? -1 : 1))[0] ?? null
      store.afterMark()
      return mark
    },

    async get() {
      return null
    },

    async getMany(keys) {
      return keys.map(() => null)
    },
  }
  return store
}

type Sort = PageQuery['sort']
const idsOf = (rows: readonly RenderedOrder[]) => rows.map(({ id }) => id)

/** A listing with a page size, read page by page, so that a test can write in between. */
export function startListing(store: OrderStore, limit: number, sort: Sort = 'updated_at_asc') {
  let state: PagerState | null = null
  let hasMore = true

  async function nextPage(size = limit): Promise<string[]> {
    const page: Page = await readPage(store, listing({ sort }), state, size)
    state = page.next
    hasMore = page.next !== null
    return idsOf(page.rows)
  }

  return {
    nextPage,
    hasMore: () => hasMore,
    /** Reads all remaining pages. */
    async rest(): Promise<string[][]> {
      const pages: string[][] = []
      while (hasMore) {
        if (pages.length > 100) throw new Error('the listing does not end')
        pages.push(await nextPage())
      }
      return pages
    },
  }
}
