import { getEventListeners } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMemoryStore, type OrderEvent } from '../../../../src/client/client.ts'
import { applyRemoval, changeExclusively, savePage } from '../../../../src/client/sync/removals.ts'
import { apiOrder } from '../../../support/orders-cli/api-order.ts'
import { syncState } from '../../../support/orders-cli/sync-state.ts'

const ID = 'ord_1'
const state = syncState({ kind: 'changes' })
const removed: OrderEvent = {
  id: 'evt_1',
  type: 'order.removed',
  timestamp: '2026-03-01T12:00:00.000Z',
  account_id: 'acc_1',
  order_id: ID,
  sequence: 1,
  change: {},
}

/** An API with one order, which is erased and restored; `scheduler` delays every response. */
function createScene(scheduler: fc.Scheduler) {
  const store = createMemoryStore()
  let version = 1
  let isErased = false
  let watermark = 0
  const order = () => (isErased ? null : apiOrder({ id: ID, amount_total: version }))
  const respond = <T>(value: T, label: string) => scheduler.schedule(Promise.resolve(value), label)
  const readOrder = () => respond(order(), 'order')
  const deps = { store, readOrder }

  return {
    /** The version in the store, and that of the API; `null` without the order. */
    versions: () => ({
      stored: store.orders.get(ID)?.amount_total ?? null,
      actual: order()?.amount_total ?? null,
    }),
    async change() {
      isErased = !isErased
      version++
      if (isErased) await respond(null, 'event').then(() => applyRemoval(removed, deps))
    },
    /** Saves a page of changes; only the order's versions after the last page are in it. */
    async syncOnce() {
      const listed = order()
      const isInPage = listed !== null && listed.amount_total > watermark
      const page = await respond(isInPage ? [listed] : [], 'page')
      watermark = Math.max(watermark, ...page.map(({ amount_total }) => amount_total))
      await savePage(page, state, deps)
    },
  }
}

it('removals and pages in any order leave the store as the API is', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 6 }),
      async (scheduler, changes, pages) => {
        const { change, syncOnce, versions } = createScene(scheduler)
        const work: Promise<unknown>[] = []
        const changing = scheduler.scheduleSequence(
          Array.from({ length: changes }, () => async () => void work.push(change())),
        )
        const syncing = (async () => {
          for (let page = 0; page < pages; page++) await syncOnce()
        })()
        await scheduler.waitIdle()
        await Promise.all([changing.task, syncing, ...work])

        const last = syncOnce()
        await scheduler.waitIdle()
        await last
        const { stored, actual } = versions()
        expect(stored).toBe(actual)
      },
    ),
    { numRuns: 300 },
  )
})

it('a page with two versions of an order saves the last one only', async () => {
  // Undated at the end of one pass of the listing, and dated at the start of the next.
  const undated = apiOrder({ id: ID })
  const other = apiOrder({ id: 'ord_2' })
  const dated = apiOrder({ id: ID, updated_at: '2026-03-01T12:00:00.000Z' })
  const store = createMemoryStore()
  const saved: unknown[] = []
  store.save = async (orders) => void saved.push(...orders)
  await savePage([undated, other, dated], state, { store, readOrder: async () => null })
  expect(saved).toEqual([dated, other])
})

it('a removal waits until the end of a run has changed the store', async () => {
  const store = createMemoryStore()
  const steps: string[] = []
  const { promise: saved, resolve } = Promise.withResolvers<void>()
  const ending = changeExclusively({ store }, async () => {
    steps.push('begin')
    await saved
    steps.push('end')
  })
  const readOrder = async () => null
  store.remove = async () => void steps.push('remove')
  const removing = applyRemoval(removed, { store, readOrder })
  await setImmediate()
  resolve()
  await Promise.all([ending, removing])
  expect(steps).toEqual(['begin', 'end', 'remove'])
})

describe('a call that waits for its turn', () => {
  /** A store that another call changes until `release`, and the signal of a waiting call. */
  function createBusyStore() {
    const store = createMemoryStore()
    const steps: string[] = []
    store.remove = async () => void steps.push('remove')
    store.save = async () => void steps.push('save')
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const changing = changeExclusively({ store }, async () => {
      await released
      steps.push('release')
    })
    const control = new AbortController()
    const deps = { store, readOrder: async () => null, signal: control.signal }
    return { deps, steps, changing, release, control }
  }
  type Deps = ReturnType<typeof createBusyStore>['deps']

  it.each<[string, (deps: Deps) => Promise<unknown>]>([
    ['a removal', (deps) => applyRemoval(removed, deps)],
    ['a page', (deps) => savePage([apiOrder()], state, deps)],
    ['the end of a run', (deps) => changeExclusively(deps, () => deps.store.save([], state))],
  ])('%s ends at an abort, and never changes the store', async (_what, call) => {
    const { deps, steps, changing, release, control } = createBusyStore()
    const reason = new Error('enough')
    const failure = call(deps).then(
      () => null,
      (error) => error,
    )
    control.abort(reason)
    const first = await Promise.race([failure, setImmediate('still waiting')])
    release()
    await changing
    await setImmediate()
    expect({ first, steps }).toEqual({ first: reason, steps: ['release'] })
    await expect(call(deps)).rejects.toBe(reason)
    expect(steps).toEqual(['release'])
  })

  it('is awaited after an abort once its work has started, and leaves no listener', async () => {
    const { deps, steps, changing, release, control } = createBusyStore()
    const work = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    const call = changeExclusively(deps, async () => {
      started.resolve()
      await work.promise
      return 'done'
    })
    const listeners = () => getEventListeners(deps.signal, 'abort').length
    expect(listeners()).toBe(1)
    release()
    await Promise.all([changing, started.promise])
    expect({ listeners: listeners(), steps }).toEqual({ listeners: 0, steps: ['release'] })
    control.abort()
    work.resolve()
    expect(await call).toBe('done')
  })
})

it('a page that waits for a long removal brings no order back that was removed before', async () => {
  const store = createMemoryStore()
  let nowMs = 0
  const clock = () => nowMs
  const { promise: response, resolve } = Promise.withResolvers<null>()
  const removing = applyRemoval(removed, { store, readOrder: async () => null, clock })
  const other = { ...removed, order_id: 'ord_2' }
  const slowRemoval = applyRemoval(other, { store, readOrder: () => response, clock })
  const page = [apiOrder({ id: ID })]
  const saving = savePage(page, state, { store, readOrder: async () => null, clock })
  await removing
  nowMs = 14 * 60_000 // The API was unavailable.
  resolve(null)
  await Promise.all([slowRemoval, saving])
  expect([...store.orders.keys()]).toEqual([])
})

it('a process that only applies removals forgets those that no page can predate any more', async () => {
  const store = createMemoryStore()
  const minutes = [0, 9, 11]
  for (const minute of minutes) {
    const clock = () => minute * 60_000
    const event = { ...removed, order_id: `ord_${minute}` }
    await applyRemoval(event, { store, readOrder: async () => null, clock })
  }
  const readIds: string[] = []
  const readOrder = async (id: string) => {
    readIds.push(id)
    return null
  }
  const page = minutes.map((minute) => apiOrder({ id: `ord_${minute}` }))
  // By this clock the page itself forgets none.
  await savePage(page, state, { store, readOrder, clock: () => 0 })
  expect(readIds).toEqual(['ord_9', 'ord_11'])
})
