import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrdersClient, type Order, type SyncOptions } from '../../../src/client/client.ts'
import { createRandom, type Random } from '../../../src/demo/random.ts'
import { noFilters } from '../../../src/orders/filters/filters.ts'
import { byEffort } from '../../support/effort.ts'
import { createTestApp, type TestApp } from '../../support/http/test-app.ts'
import { collect } from '../../support/orders/collect.ts'
import {
  CrashError,
  type CrashingStore,
  createCrashingStore,
} from '../../support/orders-cli/crashing-store.ts'
import {
  type AlternatingWriters,
  createAlternatingWriters,
} from '../../support/simulation/alternating-writers.ts'
import type { Row } from '../../support/simulation/rows.ts'
import { createSimulation, type Simulation } from '../../support/simulation/simulation.ts'
import { onServices } from '../../support/stores/backend.ts'

/** A cluster write costs a hundred times an embedded one. */
const { stores, changes, handover } = onServices
  ? { stores: byEffort(4, 8), changes: 15, handover: 0.02 }
  : { stores: byEffort(20, 60), changes: 40, handover: 0.5 }
const SYNCS = 5
/** Each seed is a separate test, so that none approaches its timeout on a busy machine. */
const GROUPS = 4
const groups = Array.from({ length: GROUPS }, (_, at) => 1 + (at * stores) / GROUPS)
/** Saves with a concurrent write; under endless writes a sync might not end. */
const MAX_CONCURRENT_WRITES = 36
const NEVER = Number.POSITIVE_INFINITY

let app: TestApp
let writers: AlternatingWriters
let baseUrl: string

beforeAll(async () => {
  app = await createTestApp()
  writers = createAlternatingWriters(app.services.openIndex, handover)
  baseUrl = await app.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(async () => {
  await writers.close()
  await app.close()
})

describe('a store synced during concurrent writes by a process that crashes at random', () => {
  it.each(groups)(
    'matches the API’s listing once the writers stop (from seed %i)',
    async (first) => {
      for (let seed = first; seed < first + stores / GROUPS; seed++) {
        const { random, simulation, orders, store, stopWrites } = await openStore(seed)
        for (let sync = 0; sync < SYNCS; sync++) {
          await syncOrCrash(orders, store, {
            limit: random.between(1, 8),
            fullSyncIntervalMs: random.pick([0, NEVER, NEVER]),
          })
        }
        stopWrites.abort()
        await simulation.settle()
        await app.refresh()

        await syncUntilComplete(orders, store, { fullSyncIntervalMs: NEVER })
        const truth = [...simulation.truth(noFilters).values()]
        for (const row of truth.filter(({ hasUpdatedAt }) => hasUpdatedAt)) {
          expect(rowOf(store.orders.get(row.id)), `seed ${seed}`).toEqual(row)
        }

        await syncUntilComplete(orders, store, { fullSyncIntervalMs: 0 })
        const listed = await collect(orders.list())
        expect(byId(store.orders.values()), `seed ${seed}`).toEqual(byId(listed))
        expect(byId(listed.map(rowOf)), `seed ${seed}`).toEqual(byId(truth))
      }
    },
  )
})

async function openStore(seed: number) {
  const accountId = `acc_copied_${seed}`
  const random = createRandom(seed, 7, 0)
  const simulation = createSimulation(random, accountId, writers)
  await simulation.churn(random.between(0, changes))
  const { key } = await app.issue({ accountId })
  const { orders } = createOrdersClient({ baseUrl, apiKey: key, fetch: corruptCursors(random) })
  const stopWrites = new AbortController()
  const store = createCrashingStore(random, concurrentWrites(simulation, random, stopWrites.signal))
  return { random, simulation, orders, store, stopWrites }
}

/** Corrupts the cursor of some requests, so that the API rejects it once. */
function corruptCursors(random: Random): typeof fetch {
  return (url, init) =>
    fetch(random.chance(0.05) ? `${url}`.replace('cursor=', 'cursor=x') : url, init)
}

function concurrentWrites(simulation: Simulation, random: Random, stopped: AbortSignal) {
  let saves = 0
  return async () => {
    if (stopped.aborted || saves++ >= MAX_CONCURRENT_WRITES) return
    await simulation.churn(random.between(0, 4))
    if (random.chance(0.5)) await app.refresh()
  }
}

type Orders = ReturnType<typeof createOrdersClient>['orders']
type Options = Omit<SyncOptions, 'store'>

/** Whether the sync completed. */
async function syncOrCrash(
  orders: Orders,
  store: CrashingStore,
  options: Options,
): Promise<boolean> {
  try {
    await orders.sync({ store, ...options })
    return true
  } catch (error) {
    if (error instanceof CrashError) return false
    throw error
  }
}

/** Restarts the sync after every crash until it completes. */
async function syncUntilComplete(
  orders: Orders,
  store: CrashingStore,
  options: Options,
): Promise<void> {
  while (!(await syncOrCrash(orders, store, options)));
}

function rowOf(order: Order | undefined): Row | undefined {
  if (order === undefined) return undefined
  return { id: order.id, content: order.amount_total, hasUpdatedAt: order.updated_at !== null }
}

function byId<T extends { id: string } | undefined>(rows: Iterable<T>): T[] {
  return [...rows].sort((one, other) => ((one?.id ?? '') < (other?.id ?? '') ? -1 : 1))
}
