import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EventRecord } from '../../../src/webhooks/events/event-record.ts'
import { delivery } from '../../support/webhooks/delivery.ts'
import { eventRecord } from '../../support/webhooks/event-record.ts'
import type { WebhookStoresUnderTest } from '../../support/webhooks/stores/stores-under-test.ts'
import { useWebhookStores } from './webhook-stores-under-test.ts'

describe.each(useWebhookStores())('the event feed on %s', (_name, open) => {
  let stores: WebhookStoresUnderTest
  beforeEach(async () => {
    stores = await open()
  })
  afterEach(() => stores.close())

  async function record(...records: readonly EventRecord[]): Promise<void> {
    await stores.record(...records)
    await stores.refresh()
  }

  async function next(limit = 10) {
    const page = await stores.events.next(limit)
    if (page === null) throw new Error('expected a page of event records')
    return page
  }

  it('returns null where no record is without deliveries', async () => {
    expect(await stores.events.next(10)).toBeNull()
    expect(await stores.events.next(10)).toBeNull()
  })

  it('counts the records without deliveries, with the instant of the oldest', async () => {
    expect(await stores.events.backlog()).toEqual({ records: 0, oldestRecordedAt: null })
    await record(
      eventRecord('ord_1', 1, { recordedAt: 10_000 }),
      eventRecord('ord_2', 1, { recordedAt: 20_000 }),
      eventRecord('ord_3', 1, { recordedAt: 30_000 }),
    )
    expect(await stores.events.backlog()).toEqual({ records: 3, oldestRecordedAt: 10_000 })
    await (await next(2)).fanOut([])
    await stores.refresh()
    expect(await stores.events.backlog()).toEqual({ records: 1, oldestRecordedAt: 30_000 })
    await (await next()).fanOut([])
    await stores.refresh()
    expect(await stores.events.backlog()).toEqual({ records: 0, oldestRecordedAt: null })
  })

  it('returns each record as the writer left it', async () => {
    const records = [
      eventRecord('ord_1', 1, {
        before: null,
        events: [
          { sequence: 1, type: 'order.created', accountIds: ['acc_1', 'acc_2'] },
          { sequence: 2, type: 'order.paid', accountIds: ['acc_1'] },
        ],
      }),
      eventRecord('ord "2"\\', 7, { recordedAt: 10_001, after: null }),
    ]
    await record(...records)
    expect((await next()).records).toEqual(records)
  })

  it('returns the oldest records first, those of an order in their sequence', async () => {
    const records = [
      eventRecord('ord_2', 9, { recordedAt: 10_000 }),
      eventRecord('ord_1', 9, { recordedAt: 10_000 }),
      eventRecord('ord_1', 10, { recordedAt: 10_000 }),
      eventRecord('ord_1', 11, { recordedAt: 11_000 }),
      eventRecord('ord_2', 10, { recordedAt: 12_000 }),
    ]
    await record(...records)
    const found: EventRecord[] = []
    for (let page = await next(2); ; page = await next(2)) {
      found.push(...page.records)
      await page.fanOut([])
      await stores.refresh()
      if (found.length === records.length) break
    }
    const byOrder = (id: string) => found.filter(({ orderId }) => orderId === id)
    expect(byOrder('ord_1')).toEqual([records[1], records[2], records[3]])
    expect(byOrder('ord_2')).toEqual([records[0], records[4]])
    expect(found.slice(3)).toEqual([records[3], records[4]])
    expect(await stores.events.next(2)).toBeNull()
  })

  it('returns created deliveries with the revision that a write must find', async () => {
    await record(eventRecord('ord_1', 1))
    const [existing, fresh] = [delivery(), delivery({ event: { orderId: 'ord_2' } })]
    await stores.deliveries.create([existing])
    const [unknown, created] = await (await next()).fanOut([existing, fresh])
    expect(unknown).toBeNull()
    expect(created).toEqual(await stores.deliveries.byId(fresh.id))
    const done = {
      ...fresh,
      revision: created?.revision,
      state: 'delivered',
      nextAt: null,
    } as const
    expect(await stores.deliveries.save([done])).toEqual([
      expect.objectContaining({ state: 'delivered' }),
    ])
  })

  it('returns at most as many records as the limit, and the following after the fan-out', async () => {
    await record(eventRecord('ord_1', 1), eventRecord('ord_2', 1), eventRecord('ord_3', 1))
    const first = await next(2)
    expect(first.records).toHaveLength(2)
    await first.fanOut([])
    await stores.refresh()
    const second = await next(2)
    expect(second.records).toHaveLength(1)
    await second.fanOut([])
    await stores.refresh()
    expect(await stores.events.next(2)).toBeNull()
    const orders = [...first.records, ...second.records].map(({ orderId }) => orderId)
    expect(new Set(orders)).toEqual(new Set(['ord_1', 'ord_2', 'ord_3']))
  })

  it('stores the deliveries of a page', async () => {
    await record(eventRecord('ord_1', 1))
    await (await next()).fanOut([delivery(), delivery({ endpointId: 'we_2' })])
    expect(await stores.deliveries.byId(delivery().id)).toMatchObject(delivery())
    expect(await stores.deliveries.byId(delivery({ endpointId: 'we_2' }).id)).not.toBeNull()
    await stores.refresh()
    expect(await stores.deliveries.nextDueByEndpoint()).toEqual(
      new Map([
        ['we_1', 10_000],
        ['we_2', 10_000],
      ]),
    )
  })

  it('returns a page again that was not fanned out, also to another process', async () => {
    const other = await stores.openAgain()
    await record(eventRecord('ord_1', 1), eventRecord('ord_2', 1))
    const { records } = await next()
    expect((await next()).records).toEqual(records)
    expect((await other.events.next(10))?.records).toEqual(records)
  })

  it('keeps the deliveries of a page that is fanned out twice as they are', async () => {
    await record(eventRecord('ord_1', 1))
    const [page, again] = [await next(), await next()]
    await page.fanOut([delivery()])
    const before = await stores.deliveries.byId(delivery().id)
    if (before === null) throw new Error('expected the delivery')
    const [saved] = await stores.deliveries.save([{ ...before, state: 'delivered', nextAt: null }])
    await again.fanOut([delivery()])
    expect(await stores.deliveries.byId(delivery().id)).toEqual(saved)
    await stores.refresh()
    expect(await stores.events.next(10)).toBeNull()
  })

  it('hides no record that a late fan-out of an earlier page did not have', async () => {
    await record(eventRecord('ord_1', 1))
    const early = await next()
    await record(eventRecord('ord_2', 1), eventRecord('ord_3', 1))
    await (await next(2)).fanOut([])
    await early.fanOut([])
    await stores.refresh()
    expect((await next()).records).toEqual([eventRecord('ord_3', 1)])
  })

  it('continues in another process after the last page', async () => {
    const other = await stores.openAgain()
    await record(eventRecord('ord_1', 1))
    expect(await other.events.next(10)).not.toBeNull()
    await (await next()).fanOut([])
    await stores.refresh()
    expect(await other.events.next(10)).toBeNull()
    await record(eventRecord('ord_1', 2))
    expect((await other.events.next(10))?.records).toEqual([eventRecord('ord_1', 2)])
  })

  it('finds each record of a writer that works beside it exactly once', async () => {
    const records = Array.from({ length: 30 }, (_, n) => eventRecord(`ord_${n % 3}`, n + 1))
    const found: EventRecord[] = []
    let isWriting = true
    const writing = (async () => {
      for (const one of records) {
        await stores.record(one)
        await new Promise(setImmediate)
      }
      isWriting = false
    })()
    for (let isDone = false; !isDone; ) {
      isDone = !isWriting
      await stores.refresh()
      const page = await stores.events.next(4)
      if (page !== null) {
        isDone = false
        found.push(...page.records)
        await page.fanOut([])
      }
      await new Promise(setImmediate)
    }
    await writing
    const key = ({ orderId, version }: EventRecord) => `${orderId}:${version}`
    expect(found).toHaveLength(records.length)
    expect(new Set(found.map(key))).toEqual(new Set(records.map(key)))
  })

  it('purges fanned-out records of before an instant, and keeps all others', async () => {
    const kept = [
      eventRecord('ord_3', 1, { recordedAt: 20_000 }),
      eventRecord('ord_4', 1, { recordedAt: 19_999 }),
    ]
    await record(eventRecord('ord_1', 1), eventRecord('ord_2', 1), ...kept.slice(0, 1))
    await (await next()).fanOut([])
    await record(...kept.slice(1))
    await stores.events.purge(20_000)
    await stores.refresh()
    expect(await stores.storedRecords()).toEqual(kept)
    expect((await next()).records).toEqual(kept.slice(1))
  })

  it('fans out a page of 1000 erasures', async () => {
    const erasures = Array.from({ length: 1_000 }, (_, n) =>
      eventRecord(`ord_${n}`, 2, { after: null }),
    )
    await record(...erasures)
    const page = await next(1_000)
    expect(page.records).toHaveLength(1_000)
    await page.fanOut([])
    await stores.refresh()
    expect(await stores.events.next(1_000)).toBeNull()
  })
})
