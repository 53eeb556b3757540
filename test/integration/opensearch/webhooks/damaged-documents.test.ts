import { describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import { createSaveResults } from '../../../../src/webhooks/dispatcher/save-results.ts'
import { thrownBy } from '../../../support/stores/scripted/scripted-nodes.ts'
import { delivery } from '../../../support/webhooks/delivery.ts'
import { endpoint } from '../../../support/webhooks/endpoint.ts'
import { eventRecord } from '../../../support/webhooks/event-record.ts'
import { useOpenSearchWebhooks } from '../../../support/webhooks/stores/use-opensearch-webhooks.ts'

const test = useOpenSearchWebhooks()
const due = { endpointId: 'we_1', nowMs: 99_000, limit: 1, excludedOrders: [], excludedIds: [] }

/** Stores of another process, and the damaged documents that it reports. */
async function openWithReports() {
  const reports: string[] = []
  const stores = await test.stores.openAgain()
  stores.onDamaged?.((reason) => reports.push(reason))
  return { stores, reports }
}

const reportOf = (index: string, id: string) =>
  `the document ${id} of the index ${test.prefix}${index} is damaged and is skipped: restore it from a snapshot or delete it`

describe('a damaged document', () => {
  it.each(['endpoint_id', 'state', 'recorded_at', 'sequence', 'delivery'])(
    'a delivery without its %s is unavailable by its id',
    async (field) => {
      await test.stores.deliveries.create([delivery({ id: 'a' })])
      await test.damage('webhook-deliveries', 'a', `ctx._source.remove('${field}')`)
      const error = await thrownBy(test.stores.deliveries.byId('a'))
      expect(error).toBeInstanceOf(Unavailable)
      expect(String(error)).toContain(`the document a of the index ${test.prefix}webhook-deliv`)
    },
  )

  it('a damaged delivery stops no other, and is reported once', async () => {
    const { stores, reports } = await openWithReports()
    await test.stores.deliveries.create([
      delivery({ id: 'a', nextAt: 1 }),
      delivery({ id: 'b', nextAt: 2, event: { sequence: 2 } }),
    ])
    await test.damage('webhook-deliveries', 'a', "ctx._source.remove('delivery')")
    for (let n = 0; n < 2; n += 1) {
      expect((await stores.deliveries.due(due)).map(({ id }) => id)).toEqual(['b'])
      expect(await stores.deliveries.nextDueAt('we_1')).toBe(2)
    }
    expect(await stores.deliveries.hold('we_1', 1_000)).toBe(1)
    expect(reports).toEqual([reportOf('webhook-deliveries', 'a')])
  })

  it('a delivery that is damaged during its attempt stops no result of the others', async () => {
    const { stores, reports } = await openWithReports()
    const created = [delivery({ id: 'a' }), delivery({ id: 'b', event: { sequence: 2 } })]
    const sent = (await stores.deliveries.create(created)).filter((one) => one !== null)
    await test.damage('webhook-deliveries', 'a', "ctx._source.remove('delivery')")
    const { deliveries } = stores
    const saveResults = createSaveResults({ deliveries, lifecycle: { async applyStored() {} } })
    const results = sent.map((one) => ({ ...one, state: 'delivered', nextAt: null }) as const)
    const saved = await saveResults(results)
    expect(saved.map((one) => one?.state)).toEqual([undefined, 'delivered'])
    expect(reports).toEqual([reportOf('webhook-deliveries', 'a')])
  })

  it('a damaged endpoint stops no other, and is reported once', async () => {
    const { stores, reports } = await openWithReports()
    for (const id of ['we_1', 'we_2']) await test.stores.endpoints.insert(endpoint({ id }))
    await test.damage('webhook-endpoints', 'we_1', "ctx._source.endpoint.remove('url')")
    const { endpoints } = await stores.endpoints.changes(null)
    expect(endpoints).toEqual([endpoint({ id: 'we_2' })])
    expect(await stores.endpoints.list('acc_1')).toEqual(endpoints)
    expect(reports).toEqual([reportOf('webhook-endpoints', 'we_1')])
    expect(await thrownBy(stores.endpoints.byId('we_1'))).toBeInstanceOf(Unavailable)
    expect(await thrownBy(stores.endpoints.update('we_1', (same) => same))).toBeInstanceOf(
      Unavailable,
    )
  })

  it('a damaged event record stops no other, and is reported once', async () => {
    const { stores, reports } = await openWithReports()
    await test.stores.record(eventRecord('ord_1', 1), eventRecord('ord_2', 1))
    await test.damage('order-events', 'ord_1:1', "ctx._source.record.remove('events')")
    for (let n = 0; n < 2; n += 1) {
      expect((await stores.events.next(1))?.records).toEqual([eventRecord('ord_2', 1)])
    }
    expect(reports).toEqual([reportOf('order-events', 'ord_1:1')])
  })
})
