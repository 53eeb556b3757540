import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createWriter } from '../../src/indexing/writer/writer.ts'
import { wallClock } from '../../src/lib/clock.ts'
import type { ViewKey } from '../../src/orders/order-store.ts'
import { changeOf } from '../support/orders/changes.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { type StoresUnderTest, useStores } from './stores-under-test.ts'

describe.each(useStores())('several views on %s', (name, open) => {
  let store: StoresUnderTest
  beforeEach(async () => {
    store = await open()
  })
  afterEach(() => store.close())

  /** Writes without a refresh, so a read by search would miss it. */
  async function write(...orders: object[]): Promise<void> {
    const index = await store.openIndex()
    await createWriter(index, wallClock).write(orders.map(changeOf), 'live')
    await index.close()
  }

  const key = (orderId: string, accountId = 'acc_1'): ViewKey => ({ accountId, orderId })
  const text = (view: unknown) => (view instanceof Uint8Array ? Buffer.from(view).toString() : view)
  const getMany = async (...keys: ViewKey[]) => (await store.orders.getMany(keys)).map(text)
  const get = async ({ accountId, orderId }: ViewKey) =>
    text(await store.orders.get(accountId, orderId))

  it('views are returned in the order of their keys, each as get returns it', async () => {
    await write(
      sourceOrder({ id: 'ord_1' }),
      sourceOrder({ id: 'ord_2', amount_total: 2 }),
      sourceOrder({ id: 'ord_3', tracking: { '"},{"': ',"order":{"id":"ord_9"}' } }),
    )
    const keys = ['ord_3', 'ord_1', 'ord_2', 'ord_1'].map((id) => key(id))
    const views = await getMany(...keys)
    expect(views).toEqual(await Promise.all(keys.map(get)))
    expect(views.map((view) => JSON.parse(String(view)).id)).toEqual(keys.map((k) => k.orderId))
  })

  it('no key returns no view', async () => {
    await store.initialize()
    expect(await getMany()).toEqual([])
  })

  it('a removed view is null, and one that never was is null or missing', async () => {
    await write(
      sourceOrder({ id: 'ord_1', coproducer_account_ids: ['acc_2'] }),
      sourceOrder({ id: 'ord_2' }),
    )
    await write(sourceOrder({ id: 'ord_1', version: 2, coproducer_account_ids: [] }), {
      id: 'ord_2',
      version: 2,
      owner_account_id: 'acc_1',
      deleted: true,
    })
    const keys = [key('ord_1', 'acc_2'), key('ord_2'), key('ord_9'), key('ord_1', 'acc_9')]
    const never = name === 'SQLite' ? null : 'missing'
    const found = await getMany(...keys, key('ord_1'))
    expect(found).toEqual([null, null, never, never, await get(key('ord_1'))])
  })

  it('each account gets its own view of the same order', async () => {
    const tracking = { src: 'of the owner' }
    await write(sourceOrder({ coproducer_account_ids: ['acc_2'], tracking }))
    const [owner, coProducer] = await getMany(key('ord_1'), key('ord_1', 'acc_2'))
    expect(JSON.parse(String(owner))).toMatchObject({ role: 'OWNER', tracking })
    expect(JSON.parse(String(coProducer))).toMatchObject({ role: 'COPRODUCER', tracking: null })
  })

  it('a view of an older schema version has null in newer fields', async () => {
    await write(sourceOrder({ id: 'ord_1' }), sourceOrder({ id: 'ord_2' }))
    await store.downgradeSchema('acc_1', 'ord_1', 'utm')
    const [older, current] = await getMany(key('ord_1'), key('ord_2'))
    expect(JSON.parse(String(older))).toHaveProperty('utm', null)
    expect(older).toBe(await get(key('ord_1')))
    expect(current).toBe(await get(key('ord_2')))
  })

  it('a damaged view is what get returns or throws, and the others are found', async () => {
    await write(sourceOrder({ id: 'ord_1' }), sourceOrder({ id: 'ord_2' }))
    await store.corrupt('acc_1', 'ord_1')
    const damaged = await get(key('ord_1')).catch((error: unknown) => error)
    expect(await getMany(key('ord_1'), key('ord_2'))).toEqual([damaged, await get(key('ord_2'))])
  })

  it('a view with an altered search key is what get returns or throws', async () => {
    await write(sourceOrder({ id: 'ord_1' }), sourceOrder({ id: 'ord_2' }))
    await store.alter('acc_1', 'ord_1', 'status', 'UNPAID')
    const altered = await get(key('ord_1')).catch((error: unknown) => error)
    expect(await getMany(key('ord_2'), key('ord_1'))).toEqual([await get(key('ord_2')), altered])
  })
})
