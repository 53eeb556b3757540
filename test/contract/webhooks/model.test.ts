import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { byEffort } from '../../support/effort.ts'
import { onServices } from '../../support/stores/backend.ts'
import { walkDeliveries } from '../../support/webhooks/model/delivery-walk.ts'
import { type StoresUnderTest, stores } from '../stores-under-test.ts'

const WALKS = onServices ? byEffort(3, 30) : Number(process.env['N'] ?? 12)

describe.each(stores)('webhooks on %s', (_name, open) => {
  let store: StoresUnderTest
  beforeAll(async () => {
    store = await open()
  })
  afterAll(() => store.close())

  it('keep every invariant, whatever dies', async () => {
    let requests = 0
    for (let seed = Number(process.env['SEED'] ?? 1); seed <= WALKS; seed++) {
      const result = await walkDeliveries(seed, {
        stores: store,
        isAtomic: !onServices,
        refresh: store.refresh,
      })
      expect(result.report).toBe('')
      requests += result.requests
      console.log(seed, result.requests, result.dispatchers)
    }
    expect(requests).toBeGreaterThan(10 * WALKS)
  })
})
