import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { StoredDelivery } from '../../../../src/webhooks/deliveries/delivery.ts'
import type { DeliveryStore } from '../../../../src/webhooks/deliveries/delivery-store.ts'
import { createSaveResults } from '../../../../src/webhooks/dispatcher/save-results.ts'
import { attempt, delivery } from '../../../support/webhooks/delivery.ts'
import type { WebhookStoresUnderTest } from '../../../support/webhooks/stores/stores-under-test.ts'
import { useWebhookStores } from '../webhook-stores-under-test.ts'

const attempts = [attempt({ status: 200, error: null, excerpt: null })]

describe.each(useWebhookStores())('the results of attempts on %s', (_name, open) => {
  let stores: WebhookStoresUnderTest
  let applied: string[]
  beforeEach(async () => {
    stores = await open()
    applied = []
  })
  afterEach(() => stores.close())

  const lifecycle = {
    async applyStored(id: string) {
      applied.push(id)
    },
  }
  const saveResults = (deliveries: Pick<DeliveryStore, 'save' | 'byIds'> = stores.deliveries) =>
    createSaveResults({ deliveries, lifecycle })

  /** Deliveries of two orders and endpoints that a dispatcher sends, and their results. */
  async function sending(count: number, result: Partial<StoredDelivery>) {
    const created = Array.from({ length: count }, (_, n) =>
      delivery({ endpointId: `we_${n % 2}`, event: { orderId: `ord_${n}` } }),
    )
    const stored = (await stores.deliveries.create(created)).filter((one) => one !== null)
    expect(stored).toHaveLength(count)
    return stored.map((one) => ({ ...one, ...result, attempts }))
  }

  const DELIVERED = { state: 'delivered', nextAt: null } as const

  async function holdAll() {
    for (const id of ['we_0', 'we_1']) await stores.deliveries.hold(id, 20_000)
  }

  it('of deliveries that were held meanwhile count, with few calls of the store', async () => {
    const results = await sending(20, DELIVERED)
    await holdAll()
    let calls = 0
    const saved = await saveResults({
      byIds(ids) {
        calls += 1
        return stores.deliveries.byIds(ids)
      },
      save(deliveries) {
        calls += 1
        return stores.deliveries.save(deliveries)
      },
    })(results)
    expect(saved.map((one) => one?.id)).toEqual(results.map(({ id }) => id))
    expect(saved.map((one) => one?.state)).toEqual(results.map(() => 'delivered'))
    expect(await stores.deliveries.byIds(results.map(({ id }) => id))).toEqual(saved)
    expect(applied).toEqual(['we_0', 'we_1'])
    expect(calls).toBe(3)
  })

  it('that failed leave a held delivery as it is', async () => {
    const results = await sending(2, { nextAt: 30_000, step: 1 })
    await holdAll()
    const saved = await saveResults()(results)
    expect(saved.map((one) => one?.state)).toEqual(['held', 'held'])
    expect(applied).toEqual(['we_0', 'we_1'])
  })

  it('count for a held delivery that changes again while they are stored', async () => {
    const [result] = await sending(1, DELIVERED)
    if (result === undefined) throw new Error('expected a delivery')
    await holdAll()
    let changes = 2
    const [saved] = await saveResults({
      byIds: stores.deliveries.byIds,
      async save(deliveries) {
        const current = await stores.deliveries.byId(result.id)
        changes -= 1
        if (current?.state === 'held' && changes >= 0) await stores.deliveries.save([current])
        return stores.deliveries.save(deliveries)
      },
    })([result])
    expect(saved).toMatchObject({ ...DELIVERED, attempts, heldAt: null })
    expect(await stores.deliveries.byId(result.id)).toEqual(saved)
  })

  it('are dropped where the delivery was removed, and the others are stored', async () => {
    const results = await sending(2, DELIVERED)
    const [removed, other] = results
    await stores.deliveries.cancel('we_0')
    await stores.deliveries.purge(99_000)
    expect((await saveResults()(results)).map((one) => one?.id)).toEqual([undefined, other?.id])
    expect(await stores.deliveries.byIds([removed?.id ?? ''])).toEqual([null])
    expect(applied).toEqual([])
  })
})
