import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Endpoint } from '../../../src/webhooks/endpoints/endpoint.ts'
import { createEndpointDirectory } from '../../../src/webhooks/endpoints/endpoint-directory.ts'
import { endpoint } from '../../support/webhooks/endpoint.ts'
import type { WebhookStoresUnderTest } from '../../support/webhooks/stores/stores-under-test.ts'
import { useWebhookStores } from './webhook-stores-under-test.ts'

const everything = endpoint({
  events: ['order.paid', 'order.removed'],
  payload: 'thin',
  description: 'ERP "do João"\n',
  disabledReason: 'failing',
  secret: { kid: 'k2', generation: 3 },
  previousSecret: { kid: 'k1', generation: 2, endsAt: 9_000 },
  failingSince: 7_000,
  lastSuccessAt: 6_500,
  isBreakerOpen: true,
  noticesSent: 2,
})

/** So many that a write follows the checkpoint of a read in some of them. */
const READS_BESIDE_WRITERS = 20

const ids = (endpoints: readonly Endpoint[]) => endpoints.map(({ id }) => id)

describe.each(useWebhookStores())('the endpoint store on %s', (_name, open) => {
  let stores: WebhookStoresUnderTest
  beforeEach(async () => {
    stores = await open()
  })
  afterEach(() => stores.close())

  it.each([
    ['every optional field', everything],
    ['no optional field', endpoint()],
    ['an empty list of types', endpoint({ events: [] })],
  ])('returns an endpoint as it was inserted, with %s', async (_what, inserted) => {
    await stores.endpoints.insert(inserted)
    await stores.refresh()
    expect(await stores.endpoints.byId(inserted.id)).toEqual(inserted)
    expect(await stores.endpoints.list('acc_1')).toEqual([inserted])
    expect((await stores.endpoints.changes(null)).endpoints).toEqual([inserted])
  })

  it('rejects a second endpoint with the same id, and keeps the first', async () => {
    await stores.endpoints.insert(endpoint())
    await expect(stores.endpoints.insert(endpoint({ accountId: 'acc_2' }))).rejects.toThrow()
    expect(await stores.endpoints.byId(endpoint().id)).toEqual(endpoint())
  })

  it('returns null and empty lists where there is no endpoint', async () => {
    expect(await stores.endpoints.byId('we_1')).toBeNull()
    expect(await stores.endpoints.list('acc_1')).toEqual([])
    expect((await stores.endpoints.changes(null)).endpoints).toEqual([])
    expect(await stores.endpoints.counts()).toEqual({ enabled: 0, failing: 0, disabled: 0 })
  })

  it('finds an id of 512 bytes, and no endpoint by a longer one', async () => {
    const longest = 'é'.repeat(256)
    await stores.endpoints.insert(endpoint({ id: longest }))
    expect(await stores.endpoints.byId(longest)).toEqual(endpoint({ id: longest }))
    for (const id of [`${longest}x`, 'x'.repeat(5_000)]) {
      expect(await stores.endpoints.byId(id)).toBeNull()
    }
  })

  it('lists the endpoints of one account, oldest first', async () => {
    await stores.endpoints.insert(endpoint({ id: 'we_1', createdAt: 2_000 }))
    await stores.endpoints.insert(endpoint({ id: 'we_2', accountId: 'acc_2' }))
    await stores.endpoints.insert(endpoint({ id: 'we_3', createdAt: 1_000 }))
    await stores.refresh()
    expect(ids(await stores.endpoints.list('acc_1'))).toEqual(['we_3', 'we_1'])
  })

  it('replaces an endpoint with the result of the change, and returns it', async () => {
    await stores.endpoints.insert(endpoint())
    const changed = await stores.endpoints.update(endpoint().id, (before) => {
      expect(before).toEqual(endpoint())
      return everything
    })
    expect(changed).toEqual(everything)
    expect(await stores.endpoints.byId(everything.id)).toEqual(everything)
  })

  it('keeps an endpoint whose change returns null', async () => {
    await stores.endpoints.insert(endpoint())
    expect(await stores.endpoints.update(endpoint().id, () => null)).toBeNull()
    expect(await stores.endpoints.byId(endpoint().id)).toEqual(endpoint())
  })

  it('keeps an endpoint whose change throws', async () => {
    await stores.endpoints.insert(endpoint())
    const update = stores.endpoints.update(endpoint().id, () => {
      throw new Error('no such generation')
    })
    await expect(update).rejects.toThrow('no such generation')
    expect(await stores.endpoints.update(endpoint().id, (same) => same)).toEqual(endpoint())
  })

  it('runs no change of a missing or deleted endpoint', async () => {
    await stores.endpoints.insert(endpoint({ deletedAt: 2_000 }))
    for (const id of [endpoint().id, 'we_missing']) {
      const update = stores.endpoints.update(id, () => {
        throw new Error('the change ran')
      })
      expect(await update).toBeNull()
    }
  })

  it('finds an endpoint by its id, also a deleted one', async () => {
    const deleted = endpoint({ id: 'we_2', deletedAt: 2_000 })
    await stores.endpoints.insert(endpoint())
    await stores.endpoints.insert(deleted)
    expect(await stores.endpoints.find(endpoint().id)).toEqual(endpoint())
    expect(await stores.endpoints.find('we_2')).toEqual(deleted)
    expect(await stores.endpoints.find('we_missing')).toBeNull()
  })

  it('hides a deleted endpoint, except from the changes', async () => {
    await stores.endpoints.insert(endpoint())
    const { token } = await stores.endpoints.changes(null)
    const deleted = endpoint({ deletedAt: 2_000 })
    expect(await stores.endpoints.update(endpoint().id, () => deleted)).toEqual(deleted)
    await stores.refresh()
    expect(await stores.endpoints.byId(deleted.id)).toBeNull()
    expect(await stores.endpoints.list('acc_1')).toEqual([])
    expect(await stores.endpoints.counts()).toEqual({ enabled: 0, failing: 0, disabled: 0 })
    expect((await stores.endpoints.changes(token)).endpoints).toEqual([deleted])
    expect((await stores.endpoints.changes(null)).endpoints).toEqual([deleted])
  })

  it('keeps every one of several concurrent changes of an endpoint', async () => {
    const other = await stores.openAgain()
    await stores.endpoints.insert(endpoint())
    const increment = (before: Endpoint) => ({ ...before, noticesSent: before.noticesSent + 1 })
    await Promise.all(
      [stores, other, stores, other, stores].map(({ endpoints }) =>
        endpoints.update(endpoint().id, increment),
      ),
    )
    expect(await stores.endpoints.byId(endpoint().id)).toEqual(endpoint({ noticesSent: 5 }))
  })

  it('returns the endpoints that were inserted or changed since a token', async () => {
    for (const id of ['we_1', 'we_2']) await stores.endpoints.insert(endpoint({ id }))
    const first = await stores.endpoints.changes(null)
    expect(ids(first.endpoints).sort()).toEqual(['we_1', 'we_2'])
    const second = await stores.endpoints.changes(first.token)
    expect(second.endpoints).toEqual([])
    await stores.endpoints.update('we_1', (before) => ({ ...before, payload: 'thin' }))
    await stores.endpoints.insert(endpoint({ id: 'we_3' }))
    const third = await stores.endpoints.changes(second.token)
    expect(ids(third.endpoints).sort()).toEqual(['we_1', 'we_3'])
    expect(third.endpoints).toContainEqual(endpoint({ id: 'we_1', payload: 'thin' }))
    expect((await stores.endpoints.changes(first.token)).endpoints).toHaveLength(2)
    expect((await stores.endpoints.changes(third.token)).endpoints).toEqual([])
  })

  it('returns an endpoint inserted after the newest marker was purged', async () => {
    await stores.endpoints.insert(endpoint({ id: 'we_1' }))
    await stores.endpoints.update('we_1', (before) => ({ ...before, deletedAt: 2_000 }))
    const { token } = await stores.endpoints.changes(null)
    await stores.refresh()
    await stores.endpoints.purgeDeleted(3_000)
    await stores.endpoints.insert(endpoint({ id: 'we_2' }))
    expect(ids((await stores.endpoints.changes(token)).endpoints)).toEqual(['we_2'])
  })

  it.each([
    ['all endpoints', false],
    ['the endpoints since a token', true],
  ])('returns %s while other processes rewrite them', async (_what, isSince) => {
    const [other, another] = [await stores.openAgain(), await stores.openAgain()]
    const { token } = await stores.endpoints.changes(null)
    const names = ['we_1', 'we_2', 'we_3', 'we_4']
    for (const id of names) await stores.endpoints.insert(endpoint({ id }))
    const reading = new AbortController()
    const rewriting = names.flatMap((id) =>
      [other, another].map(async ({ endpoints }) => {
        const increment = (one: Endpoint) => ({ ...one, noticesSent: one.noticesSent + 1 })
        while (!reading.signal.aborted) await endpoints.update(id, increment)
      }),
    )
    const missed: string[] = []
    for (let read = 0; read < READS_BESIDE_WRITERS; read++) {
      const { endpoints } = await stores.endpoints.changes(isSince ? token : null)
      missed.push(...names.filter((name) => !ids(endpoints).includes(name)))
    }
    reading.abort()
    await Promise.all(rewriting)
    expect(missed).toEqual([])
  })

  it('leads a directory that reads changes beside writers to the same endpoints', async () => {
    const other = await stores.openAgain()
    const directory = createEndpointDirectory(other.endpoints, () => 0)
    const names = Array.from({ length: 8 }, (_, n) => `we_${n}`)
    const writing = new AbortController()
    const reading = (async () => {
      while (!writing.signal.aborted) await directory.refresh()
    })()
    await Promise.all(
      names.map(async (id, n) => {
        await stores.endpoints.insert(endpoint({ id }))
        for (const noticesSent of [1, 2, 3])
          await other.endpoints.update(id, (before) => ({ ...before, noticesSent }))
        if (n % 2 === 0)
          await stores.endpoints.update(id, (before) => ({ ...before, deletedAt: 2_000 }))
      }),
    )
    writing.abort()
    await reading
    await directory.refresh()
    const expected = names.filter((_, n) => n % 2 === 1)
    expect([...directory.all()].sort((a, b) => a.id.localeCompare(b.id))).toEqual(
      expected.map((id) => endpoint({ id, noticesSent: 3 })),
    )
  })

  it('counts each endpoint once, a disabled one as disabled even when it fails', async () => {
    await stores.endpoints.insert(endpoint({ id: 'we_1' }))
    await stores.endpoints.insert(endpoint({ id: 'we_2' }))
    await stores.endpoints.insert(endpoint({ id: 'we_3', failingSince: 5_000 }))
    await stores.endpoints.insert(
      endpoint({ id: 'we_4', disabledReason: 'failing', failingSince: 5_000 }),
    )
    await stores.endpoints.insert(endpoint({ id: 'we_5', disabledReason: 'manual' }))
    await stores.endpoints.insert(endpoint({ id: 'we_6', disabledReason: 'gone' }))
    await stores.endpoints.insert(endpoint({ id: 'we_7', deletedAt: 5_000 }))
    await stores.refresh()
    expect(await stores.endpoints.counts()).toEqual({ enabled: 2, failing: 1, disabled: 3 })
  })

  it('removes the markers of endpoints deleted before an instant, and nothing else', async () => {
    await stores.endpoints.insert(endpoint({ id: 'we_1', deletedAt: 1_999 }))
    await stores.endpoints.insert(endpoint({ id: 'we_2', deletedAt: 2_000 }))
    await stores.endpoints.insert(endpoint({ id: 'we_3' }))
    await stores.refresh()
    await stores.endpoints.purgeDeleted(2_000)
    await stores.refresh()
    const { endpoints } = await stores.endpoints.changes(null)
    expect(ids(endpoints).sort()).toEqual(['we_2', 'we_3'])
  })
})
