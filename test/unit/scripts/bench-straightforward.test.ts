import { describe, expect, it } from 'vitest'
import { recordSearches } from '../../../scripts/bench/orders/searches.ts'
import { searchRequest } from '../../../scripts/bench/peers/straightforward-app.ts'
import { sorts } from '../../../src/orders/order-store.ts'

describe('the search of the straightforward peer', () => {
  it.each(sorts)('is that of the service, by %s', async (sort) => {
    const after = { key: 1_700_000_000_000, id: 'ord_1' }
    const place = { accountId: 'acc_1', sort, rowsBefore: 1, after, following: [] }
    const plan = { urls: ['http://127.0.0.1'], index: 'orders', places: [place], limit: 20 }
    const [recorded] = await recordSearches(plan)
    const { pathname, searchParams } = new URL(`http://127.0.0.1${recorded?.path}`)

    const { index, body, ...params } = searchRequest('orders', { ...place, limit: 20 })
    expect(pathname).toBe(`/${index}/_search`)
    expect(Object.fromEntries(searchParams)).toEqual({
      ...params,
      allow_partial_search_results: 'false',
    })
    expect(JSON.parse(String(recorded?.body))).toEqual(body)
  })
})
