import { beforeEach, describe, expect, it } from 'vitest'
import { type ArrayOrderStore, createArrayOrderStore, startListing } from './array-order-store.ts'

// Undated orders are last, by id. These tests change them while a client pages.
let store: ArrayOrderStore

beforeEach(() => {
  store = createArrayOrderStore()
})

describe('a change while a client pages through the undated orders', () => {
  it('an order that gets its first date is returned again or for the first time', async () => {
    store.writeUndated('a', 'b', 'c', 'd')
    const pages = startListing(store, 2)
    expect(await pages.nextPage()).toEqual(['a', 'b'])
    store.write('d')
    expect(await pages.rest()).toEqual([['c', 'd']])
  })

  it('an already returned order that gets its first date is returned again', async () => {
    store.writeUndated('a', 'b', 'c')
    const pages = startListing(store, 2)
    await pages.nextPage()
    store.write('a')
    expect(await pages.rest()).toEqual([['c', 'a']])
  })

  it('a new order with a smaller id is returned', async () => {
    store.writeUndated('b', 'c', 'd')
    const pages = startListing(store, 2)
    await pages.nextPage()
    store.writeUndated('a')
    expect(await pages.rest()).toEqual([['d', 'a']])
  })

  it('a new order with the id of one just returned is returned', async () => {
    store.writeUndated('a', 'c', 'd', 'e')
    const pages = startListing(store, 2)
    await pages.nextPage()
    store.writeUndated('b')
    expect((await pages.rest()).flat()).toEqual(['d', 'e', 'b'])
  })

  it('an order that changes and stays undated is returned with its new data', async () => {
    store.writeUndated('a', 'b', 'c')
    const pages = startListing(store, 2)
    await pages.nextPage()
    store.writeUndated('a')
    expect(await pages.rest()).toEqual([['c', 'a']])
  })

  it('the next pass returns what is written during a pass', async () => {
    store.writeUndated('d', 'e', 'f')
    const pages = startListing(store, 1)
    const shown = [await pages.nextPage()]
    store.writeUndated('c', 'g')
    shown.push(await pages.nextPage(), await pages.nextPage(), await pages.nextPage())
    store.writeUndated('b')
    store.write('c')
    shown.push(...(await pages.rest()))
    const all = shown.flat()
    expect(['b', 'c', 'd', 'e', 'f', 'g'].filter((id) => !all.includes(id))).toEqual([])
  })

  it('a dated order that changes after the dated part is returned again', async () => {
    store.write('x', 'y')
    store.writeUndated('a', 'b', 'c')
    const pages = startListing(store, 4)
    expect(await pages.nextPage()).toEqual(['x', 'y', 'a', 'b'])
    store.write('x')
    expect(await pages.rest()).toEqual([['c', 'x']])
  })
})

describe('a page that ends exactly before the undated tail', () => {
  beforeEach(() => {
    store.write('x', 'y')
    store.writeUndated('b', 'c', 'd')
  })

  it('requests no mark', async () => {
    await startListing(store, 2).nextPage()
    expect([store.searches, store.marks]).toEqual([1, 0])
  })

  it('loses no order that gets its first date before the next', async () => {
    const pages = startListing(store, 2)
    const first = await pages.nextPage()
    store.write('d')
    expect([first, ...(await pages.rest())]).toEqual([['x', 'y'], ['d', 'b'], ['c']])
  })

  it('loses no order created before the next page', async () => {
    const pages = startListing(store, 2)
    const first = await pages.nextPage()
    store.writeUndated('a')
    expect([first, ...(await pages.rest())]).toEqual([
      ['x', 'y'],
      ['a', 'b'],
      ['c', 'd'],
    ])
  })
})

describe('the mark', () => {
  it('the mark is requested once per pass, with a second search', async () => {
    store.writeUndated('a', 'b', 'c', 'd')
    const pages = startListing(store, 1)
    await pages.nextPage()
    expect([store.searches, store.marks]).toEqual([2, 1])
    await pages.rest()
    expect(store.marks).toBe(1)
  })

  it('the mark is not requested when the tail ends with the page', async () => {
    store.write('x')
    store.writeUndated('a', 'b')
    const pages = await startListing(store, 3).rest()
    expect([pages, store.marks]).toEqual([[['x', 'a', 'b']], 0])
  })

  it('the mark is requested before the rows, so an order written in between is not lost', async () => {
    store.writeUndated('b', 'c', 'd', 'e')
    store.afterMark = () => {
      store.afterMark = () => {}
      store.writeUndated('a')
      store.write('e')
    }
    const all = (await startListing(store, 2).rest()).flat()
    expect(['a', 'b', 'c', 'd', 'e'].filter((id) => !all.includes(id))).toEqual([])
  })

  it('the mark is followed by a new search, so an order written just before it is not lost', async () => {
    store.writeUndated('b', 'c', 'd', 'e')
    store.beforeMark = () => {
      store.beforeMark = () => {}
      store.writeUndated('a')
    }
    expect(await startListing(store, 2).rest()).toEqual([['a', 'b'], ['c', 'd'], ['e']])
  })

  it('loses nothing when the account was empty at that moment', async () => {
    store.writeUndated('a', 'b', 'c')
    store.beforeMark = () => {
      for (const id of ['a', 'b', 'c']) store.remove(id)
    }
    store.afterMark = () => {
      store.beforeMark = () => {}
      store.afterMark = () => {}
      store.writeUndated('d', 'e', 'f')
    }
    const pages = startListing(store, 2)
    const first = await pages.nextPage()
    store.writeUndated('c')
    const all = [...first, ...(await pages.rest()).flat()]
    expect(['c', 'd', 'e', 'f'].filter((id) => !all.includes(id))).toEqual([])
  })

  it('the mark is dropped when the page no longer ends inside the tail', async () => {
    store.writeUndated('a', 'b', 'c')
    store.afterMark = () => {
      store.remove('b')
      store.remove('c')
      store.writeUndated('d')
    }
    const pages = startListing(store, 2)
    expect([await pages.nextPage(), pages.hasMore()]).toEqual([['a', 'd'], false])
  })
})

describe('a listing with concurrent writes', () => {
  it('ends as soon as one search returns fewer rows than requested', async () => {
    store.writeUndated('a', 'b', 'c')
    const pages = startListing(store, 2)
    await pages.nextPage()
    store.writeUndated('0')
    expect(await pages.nextPage()).toEqual(['c', '0'])
    expect(pages.hasMore()).toBe(false)
  })

  it('puts the end of one pass and the start of the next on one page', async () => {
    store.writeUndated('b', 'c', 'd')
    const pages = startListing(store, 2)
    await pages.nextPage()
    store.write('b', 'c')
    expect(await pages.nextPage()).toEqual(['d', 'b'])
    expect(await pages.rest()).toEqual([['c']])
  })

  it('returns a cursor only when a row of the next pass follows', async () => {
    store.writeUndated('a', 'b', 'c', 'd')
    const pages = startListing(store, 2)
    await pages.nextPage()
    expect([await pages.nextPage(), pages.hasMore()]).toEqual([['c', 'd'], false])
  })

  it('continues in the next pass after a page that the last pass filled', async () => {
    store.writeUndated('a', 'b', 'c', 'd')
    const pages = startListing(store, 2)
    await pages.nextPage()
    store.write('a')
    expect([await pages.nextPage(), pages.hasMore()]).toEqual([['c', 'd'], true])
    expect(await pages.rest()).toEqual([['a']])
  })
})
