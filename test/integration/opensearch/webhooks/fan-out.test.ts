import { describe, expect, it, onTestFinished } from 'vitest'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import type { WebhookStores } from '../../../../src/webhooks/webhook-stores.ts'
import { startUnconfirmedWrites } from '../../../support/stores/scripted/unconfirmed-writes.ts'
import { delivery } from '../../../support/webhooks/delivery.ts'
import { eventRecord } from '../../../support/webhooks/event-record.ts'
import { useOpenSearchWebhooks } from '../../../support/webhooks/stores/use-opensearch-webhooks.ts'

const test = useOpenSearchWebhooks()

/** A dispatcher stores the deliveries of the only record and ends before it marks the record. */
async function crashBeforeMark(): Promise<void> {
  await test.stores.record(eventRecord('ord_1', 1))
  await test.stores.refresh()
  expect(await test.stores.events.next(10)).not.toBeNull()
  await test.stores.deliveries.create([delivery({ id: 'a' })])
}

async function deliver(id: string): Promise<void> {
  const found = await test.stores.deliveries.byId(id)
  if (found === null) throw new Error('expected the delivery')
  await test.stores.deliveries.save([{ ...found, state: 'delivered', nextAt: null }])
}

async function nextPage(limit = 10, { events } = test.stores as Pick<WebhookStores, 'events'>) {
  const page = await events.next(limit)
  if (page === null) throw new Error('expected a page of event records')
  return page
}

describe('a fan-out that ended between the deliveries and the mark', () => {
  it('is repeated, and a delivery that was sent meanwhile is not pending again', async () => {
    await crashBeforeMark()
    await deliver('a')
    const page = await nextPage()
    const created = await page.fanOut([delivery({ id: 'a' }), delivery({ id: 'b' })])
    expect(created.map((one) => one?.id ?? null)).toEqual([null, 'b'])
    expect(await test.stores.deliveries.byId('a')).toMatchObject({ state: 'delivered' })
    expect(await test.stores.events.next(10)).toBeNull()
  })

  it('finds its delivered deliveries, because a purge spares those of an open record', async () => {
    await crashBeforeMark()
    await deliver('a')
    await test.stores.deliveries.purge(99_000)
    expect(await (await nextPage()).fanOut([delivery({ id: 'a' })])).toEqual([null])
    await test.stores.refresh()
    await test.stores.deliveries.purge(99_000)
    expect(await test.stores.deliveries.byId('a')).toBeNull()
  })

  it('does not keep a purge from deliveries of earlier events', async () => {
    const event = { recordedAt: 9_999 }
    await test.stores.deliveries.create([
      delivery({ id: 'old', state: 'delivered', nextAt: null, event }),
    ])
    await crashBeforeMark()
    await test.stores.deliveries.purge(99_000)
    expect(await test.stores.deliveries.byId('old')).toBeNull()
  })
})

it('a repeated fan-out marks no record whose deliveries one node alone may have', async () => {
  const cluster = await startUnconfirmedWrites()
  onTestFinished(cluster.close)
  const stores = await test.stores.openAgain({ url: cluster.url })
  await test.stores.record(eventRecord('ord_1', 1))
  await test.stores.refresh()
  const fanOut = async () => (await nextPage(10, stores)).fanOut([delivery({ id: 'a' })])
  await cluster.during('webhook-deliveries', async () => {
    await expect(fanOut()).rejects.toBeInstanceOf(Unavailable)
    await expect(fanOut()).rejects.toBeInstanceOf(Unavailable)
  })
  expect(await fanOut()).toEqual([null])
})

describe('a page of event records', () => {
  it('never has a record of an order without those before it, though a clock went back', async () => {
    const inOrder = [
      eventRecord('ord_1', 1, { recordedAt: 30_000 }),
      eventRecord('ord_1', 2, { recordedAt: 20_000 }),
      eventRecord('ord_1', 3, { recordedAt: 10_000 }),
      eventRecord('ord_2', 1, { recordedAt: 15_000 }),
    ]
    await test.stores.record(...inOrder)
    for (const limit of [1, 2, 3, 10]) {
      await test.stores.refresh()
      const { records } = await nextPage(limit)
      const versions = records
        .filter(({ orderId }) => orderId === 'ord_1')
        .map(({ version }) => version)
      expect(versions).toEqual([1, 2, 3].slice(0, versions.length))
      expect(records.length).toBeGreaterThan(0)
    }
  })

  it('a fan-out of every page reaches all records, though a clock went back', async () => {
    const records = Array.from({ length: 6 }, (_, n) =>
      eventRecord(`ord_${n % 2}`, n + 1, { recordedAt: 20_000 - n }),
    )
    await test.stores.record(...records)
    await test.stores.refresh()
    const found: number[] = []
    for (let page = await nextPage(2); found.length < records.length; ) {
      found.push(...page.records.map(({ version }) => version))
      await page.fanOut([])
      if (found.length < records.length) page = await nextPage(2)
    }
    expect(found.filter((version) => version % 2 === 1)).toEqual([1, 3, 5])
    expect(found.filter((version) => version % 2 === 0)).toEqual([2, 4, 6])
  })
})

describe('the fan-out of an erasure', () => {
  it('drops states also of before a loss, after which sequences started again, and no later ones', async () => {
    await test.stores.record(
      eventRecord('ord_1', 9, { recordedAt: 9_999 }),
      eventRecord('ord_1', 2, { after: null }),
      eventRecord('ord_1', 3),
      eventRecord('ord_1', 1, { recordedAt: 10_001 }),
    )
    await test.stores.refresh()
    await (await nextPage()).fanOut([])
    const withState = (await test.stores.storedRecords()).filter(({ before }) => before !== null)
    expect(withState.map(({ version }) => version).sort()).toEqual([1, 3])
  })
})
