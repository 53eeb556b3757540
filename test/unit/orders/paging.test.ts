import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { sorts } from '../../../src/orders/order-store.ts'
import { type ArrayOrderStore, createArrayOrderStore, startListing } from './array-order-store.ts'

let store: ArrayOrderStore

beforeEach(() => {
  store = createArrayOrderStore()
})

describe.each(sorts)('a listing by %s', (sort) => {
  const pagesOf = (limit: number) => startListing(store, limit, sort).rest()

  it('a listing of no orders is one empty page', async () => {
    expect(await pagesOf(20)).toEqual([[]])
  })

  it.each([
    ['fewer orders than a page holds', 3, 4, [3]],
    ['exactly one page', 4, 4, [4]],
    ['one more than a page', 5, 4, [4, 1]],
    ['two full pages', 8, 4, [4, 4]],
    ['pages of one', 3, 1, [1, 1, 1]],
  ])('a listing returns the expected pages for %s', async (_name, orders, limit, lengths) => {
    for (let n = 0; n < orders; n++) store.write(`ord_${n}`)
    expect((await pagesOf(limit)).map((page) => page.length)).toEqual(lengths)
  })

  it('a listing can change its limit between pages', async () => {
    store.write('a', 'b', 'c', 'd', 'e', 'f')
    const pages = startListing(store, 2, sort)
    const lengths = [(await pages.nextPage(3)).length, (await pages.nextPage(1)).length]
    expect([...lengths, ...(await pages.rest()).map((page) => page.length)]).toEqual([3, 1, 2])
  })

  it('makes one search per page', async () => {
    store.write('a', 'b', 'c', 'd')
    await pagesOf(2)
    expect([store.searches, store.marks]).toEqual([2, 0])
  })

  it('continues when the last order of a page is removed before the next', async () => {
    store.write('a', 'b', 'c')
    const pages = startListing(store, 2, sort)
    const [, last = ''] = await pages.nextPage()
    store.remove(last)
    expect((await pages.rest()).flat()).toEqual([sort === 'updated_at_asc' ? 'c' : 'a'])
  })
})

describe('created_at_desc', () => {
  it('returns the newest first, and the greatest id of equal ones', async () => {
    store.write('b', 'a')
    store.write('d', 'c')
    expect(await startListing(store, 3, 'created_at_desc').rest()).toEqual([['d', 'c', 'b'], ['a']])
  })

  it('returns no order created during the listing', async () => {
    store.write('a', 'b', 'c')
    const pages = startListing(store, 2, 'created_at_desc')
    const first = await pages.nextPage()
    store.write('d')
    expect([first, ...(await pages.rest())]).toEqual([['c', 'b'], ['a']])
  })

  it('created_at_desc neither repeats nor skips an order that changes during the listing', async () => {
    store.write('a', 'b', 'c', 'd')
    const pages = startListing(store, 2, 'created_at_desc')
    const first = await pages.nextPage()
    store.write('a', 'd')
    expect([first, ...(await pages.rest())]).toEqual([
      ['d', 'c'],
      ['b', 'a'],
    ])
  })

  it('requests no mark, dated or not', async () => {
    store.writeUndated('a', 'b', 'c')
    await startListing(store, 1, 'created_at_desc').rest()
    expect(store.marks).toBe(0)
  })
})

describe('updated_at_asc', () => {
  it('returns the oldest change first, the smallest id of equal ones, and nulls last', async () => {
    store.writeUndated('a')
    store.write('d', 'c')
    store.write('b')
    store.writeUndated('0')
    expect(await startListing(store, 2).rest()).toEqual([['c', 'd'], ['b', '0'], ['a']])
  })

  it('returns an order that changes during the listing again, on a later page', async () => {
    store.write('a', 'b', 'c')
    const pages = startListing(store, 2)
    const first = await pages.nextPage()
    store.write('a')
    expect([first, ...(await pages.rest())]).toEqual([
      ['a', 'b'],
      ['c', 'a'],
    ])
  })

  it('returns an order created during the listing at the end', async () => {
    store.write('b', 'c', 'd')
    const pages = startListing(store, 2)
    const first = await pages.nextPage()
    store.write('a')
    expect([first, ...(await pages.rest())]).toEqual([
      ['b', 'c'],
      ['d', 'a'],
    ])
  })

  it('returns no cursor at the end, even after a full page', async () => {
    store.write('a')
    store.write('b')
    const pages = startListing(store, 1)
    await pages.nextPage()
    store.remove('b')
    expect([await pages.nextPage(), pages.hasMore()]).toEqual([[], false])
  })
})

describe('a listing without concurrent writes', () => {
  it('returns every order once, in order, for any page sizes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.stringMatching(/^[a-c]{1,4}$/), { maxLength: 12 }),
        fc.integer({ min: 0, max: 12 }),
        fc.integer({ min: 1, max: 13 }),
        fc.constantFrom(...sorts),
        async (ids, undated, limit, sort) => {
          const unchangedStore = createArrayOrderStore()
          for (const id of ids.slice(undated)) unchangedStore.write(id)
          for (const id of ids.slice(0, undated)) unchangedStore.writeUndated(id)
          const onePage = await startListing(unchangedStore, 100, sort).rest()
          const pages = await startListing(unchangedStore, limit, sort).rest()
          expect(pages.flat()).toEqual(onePage.flat())
          expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true)
        },
      ),
    )
  })
})
