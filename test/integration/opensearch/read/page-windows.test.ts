import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseConfig } from '../../../../src/config/config.ts'
import { createRandom } from '../../../../src/demo/random.ts'
import type { OrderDocument } from '../../../../src/indexing/writer/order-document.ts'
import { noFilters } from '../../../../src/orders/filters/filters.ts'
import {
  isAfter,
  NULL_INSTANT_KEY,
  type Position,
  type Sort,
  sorts,
} from '../../../../src/orders/order-store.ts'
import { connectOpenSearch } from '../../../../src/stores/opensearch/client/client.ts'
import { indexNames } from '../../../../src/stores/opensearch/indices/index-names.ts'
import { createOpenSearchOrderStore } from '../../../../src/stores/opensearch/read/order-store.ts'
import { createPageWindows } from '../../../../src/stores/opensearch/read/page-windows.ts'
import { byEffort } from '../../../support/effort.ts'
import { hostileDocument } from '../../../support/orders/hostile-orders.ts'
import { createBackend } from '../../../support/stores/backend.ts'
import { openRawPages } from './raw-pages.ts'

const ACCOUNT = 'acc_uneven'
const OTHER = 'acc_between'
const ORDERS = byEffort(1_500, 10_000)
const PAGES = byEffort(150, 1_000)
const DEADLINE_MS = 60_000
const MINUTE = 60_000

/** Bursts within a minute, busy hours and quiet weeks, so that windows are often too short. */
function unevenDocuments(accountId: string): OrderDocument[] {
  const random = createRandom(20, accountId.length, 0)
  let key = Date.UTC(2025, 0, 1)
  return Array.from({ length: ORDERS }, (_, index) => {
    const gap = random.chance(0.02) ? 7 * 24 * 60 * MINUTE : random.between(0, 30 * MINUTE)
    key += random.chance(0.5) ? random.between(0, 2) : gap
    const updatedKey = random.chance(0.03) ? NULL_INSTANT_KEY : key + random.between(0, 60 * MINUTE)
    return { ...hostileDocument(accountId, index), createdKey: key, updatedKey }
  })
}

const documents = unevenDocuments(ACCOUNT)
const backend = createBackend()
const { opensearchUrls: urls = [], indexPrefix } = parseConfig(backend.env)
const client = connectOpenSearch({ urls })

beforeAll(async () => {
  const pages = await openRawPages(backend)
  await pages.load(documents)
  await pages.load(unevenDocuments(OTHER))
  await pages.close()
})
afterAll(async () => {
  await client.close()
  await backend.remove()
})

function positionsIn(sort: Sort): Position[] {
  const keyOf = ({ createdKey, updatedKey }: OrderDocument) =>
    sort === 'created_at_desc' ? createdKey : updatedKey
  return documents
    .map((document) => ({ key: keyOf(document), id: document.id }))
    .sort((one, other) => (isAfter(one, other, sort) ? 1 : -1))
}

describe('pages whose search is limited to a window', () => {
  it.each(sorts)('are the same as without one, wherever they start: %s', async (sort) => {
    const all = positionsIn(sort)
    const counts = { searched: 0, missed: 0 }
    const guessed = createPageWindows(Date.now)
    const store = createOpenSearchOrderStore({
      client,
      names: indexNames(indexPrefix),
      deadlineMs: DEADLINE_MS,
      windows: {
        ...guessed,
        boundOf(query) {
          const bound = guessed.boundOf(query)
          if (bound !== null) counts.searched += 1
          return bound
        },
        forget(query) {
          counts.missed += 1
          guessed.forget(query)
        },
      },
    })
    const random = createRandom(20, sort.length, 1)
    let row = 0
    for (let page = 0; page < PAGES; page += 1) {
      const size = random.between(2, 41)
      const after = row === 0 ? null : (all[row - 1] ?? null)
      const query = { accountId: ACCOUNT, sort, filters: noFilters, after, nullsWrittenAfter: null }
      const found = await store.findPage({ ...query, size })
      expect(found.map(({ key, id }) => ({ key, id }))).toEqual(all.slice(row, row + size))
      const isWalk = random.chance(0.8) && row + size < all.length
      row = isWalk ? row + size : random.between(0, all.length)
    }
    expect(counts.searched).toBeGreaterThan(PAGES / 4)
    expect(counts.missed).toBeGreaterThan(0)
    expect(counts.missed).toBeLessThan(counts.searched)
  })
})
