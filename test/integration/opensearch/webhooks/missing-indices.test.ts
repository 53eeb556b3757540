import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import { type Backend, createBackend, opensearch } from '../../../support/stores/backend.ts'
import { thrownBy } from '../../../support/stores/scripted/scripted-nodes.ts'
import { delivery } from '../../../support/webhooks/delivery.ts'
import { endpoint } from '../../../support/webhooks/endpoint.ts'
import { connectWebhooks } from '../../../support/webhooks/stores/opensearch-webhooks.ts'

let backend: Backend
let stores: ReturnType<typeof connectWebhooks>
beforeEach(() => {
  backend = createBackend()
  stores = connectWebhooks(backend)
})
afterEach(async () => {
  await stores.close()
  await backend.remove()
})

async function indices(): Promise<string[]> {
  const prefix = `${backend.env['INDEX_PREFIX']}`
  const found = await opensearch<{ index: string }[]>('GET', `_cat/indices/${prefix}*?format=json`)
  return found.map(({ index }) => index.slice(prefix.length)).sort((a, b) => a.localeCompare(b))
}

const WEBHOOKS = ['webhook-deliveries-v1', 'webhook-endpoints-v1']

describe('the indices of webhooks', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['the first endpoint', () => stores.endpoints.insert(endpoint())],
    ['a read of a delivery', () => stores.deliveries.byId('a')],
    ['the first delivery', () => stores.deliveries.create([delivery()])],
  ])('are created by %s', async (_what, work) => {
    await work()
    expect(await indices()).toEqual(WEBHOOKS)
  })

  it('are not created by a read of the changes of endpoints, which finds none', async () => {
    const { endpoints, token } = await stores.endpoints.changes(null)
    expect(endpoints).toEqual([])
    expect(await indices()).toEqual([])
    await stores.endpoints.insert(endpoint())
    expect((await stores.endpoints.changes(token)).endpoints).toEqual([endpoint()])
  })

  it('are not created by a count of the event records, which finds none', async () => {
    expect(await stores.events.backlog()).toEqual({ records: 0, oldestRecordedAt: null })
    expect(await indices()).toEqual([])
  })

  it('are not created empty after their loss, and the changes keep the endpoints that were read', async () => {
    await stores.endpoints.insert(endpoint())
    const { token } = await stores.endpoints.changes(null)
    await opensearch('DELETE', `${backend.env['INDEX_PREFIX']}*`)
    expect(await stores.endpoints.changes(token)).toEqual({ endpoints: [], token })
    expect(await indices()).toEqual([])
  })

  it('are created with those of the orders and keys before a process becomes the dispatcher', async () => {
    const signal = AbortSignal.any([])
    const lease = await stores.acquireLease({ onDelay: () => {}, signal })
    expect(await stores.events.next(10)).toBeNull()
    await lease.release()
    const orders = ['order-events-v1', 'order-heads-v1', 'orders-v1', 'writer-v1']
    expect(await indices()).toEqual(['accounts-v1', 'api-keys-v1', ...orders, ...WEBHOOKS].sort())
  })

  it.each<[string, () => Promise<unknown>]>([
    ['a new endpoint', () => stores.endpoints.insert(endpoint())],
    ['a list of endpoints', () => stores.endpoints.list('acc_1')],
    ['a new delivery', () => stores.deliveries.create([delivery()])],
    ['a read of a delivery', () => stores.deliveries.byId('a')],
    ['a search for deliveries', () => stores.deliveries.nextDueAt('we_1')],
    ['a transition of deliveries', () => stores.deliveries.hold('we_1', 1)],
    ['a search for event records', () => stores.events.next(1)],
    ['a status of the dispatcher', () => stores.dispatcher(1)],
  ])('that were deleted are not created empty by %s', async (_what, work) => {
    await stores.ensureIndices.orders()
    await stores.ensureIndices.webhooks()
    await opensearch('DELETE', `${backend.env['INDEX_PREFIX']}*`)
    const error = await thrownBy(work())
    expect(error).toBeInstanceOf(Unavailable)
    expect(await indices()).toEqual([])
  })
})
