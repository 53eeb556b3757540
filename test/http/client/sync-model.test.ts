import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrdersClient, type Order, type SyncOptions } from '../../../src/client/client.ts'
import { createRandom, type Random } from '../../../src/demo/random.ts'
import { createTestApp, type TestApp } from '../../support/http/test-app.ts'
import { collect } from '../../support/orders/collect.ts'
import { createMortalCopy, Died, type MortalCopy } from '../../support/orders-cli/crashing-store.ts'
import {
  type AlternatingWriters,
  createAlternatingWriters,
} from '../../support/simulation/alternating-writers.ts'
import type { Row } from '../../support/simulation/rows.ts'
import { createSimulation, type Simulation } from '../../support/simulation/simulation.ts'
import { onServices } from '../../support/stores/backend.ts'

/** On a cluster a write costs a hundred times what it costs embedded. */
const { copies, changes, handover } = onServices
  ? { copies: 8, changes: 15, handover: 0.02 }
  : { copies: 60, changes: 40, handover: 0.5 }
const SYNCS = 5
/** How often a copy's orders are changed as it is kept; under endless writing a sync may not end. */
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

describe('a copy that is synced while others write, by a process that dies now and then', () => {
  it('is what the API lists, once all is quiet', async () => {
    for (let seed = 1; seed <= copies; seed++) {
      const { random, simulation, orders, store, stopWrites } = await startSimulation(seed)
      for (let sync = 0; sync < SYNCS; sync++) {
        await syncOrDie(orders, store, {
          limit: random.between(1, 8),
          walkAllEveryMs: random.pick([0, NEVER, NEVER]),
        })
      }
      stopWrites.abort()
      await simulation.settle()
      await app.refresh()

      await syncUntilComplete(orders, store, { walkAllEveryMs: NEVER })
      const truth = [...simulation.truth({ statuses: [] }).values()]
      for (const row of truth.filter(({ hasUpdatedAt }) => hasUpdatedAt)) {
        expect(rowOf(store.orders.get(row.id)), `seed ${seed}`).toEqual(row)
      }

      await syncUntilComplete(orders, store, { walkAllEveryMs: 0 })
      const listed = await collect(orders.list())
      expect(byId(store.orders.values()), `seed ${seed}`).toEqual(byId(listed))
      expect(byId(listed.map(rowOf)), `seed ${seed}`).toEqual(byId(truth))
    }
  })
})

async function startSimulation(seed: number) {
  const accountId = `acc_copied_${seed}`
  const random = createRandom(seed, 7, 0)
  const simulation = createSimulation(random, accountId, writers)
  await simulation.churn(random.between(0, changes))
  const { key } = await app.issue({ accountId })
  const { orders } = createOrdersClient({
    baseUrl,
    apiKey: key,
    fetch: fetchWithInvalidCursors(random),
  })
  const stopWrites = new AbortController()
  const store = createMortalCopy(random, concurrentWrites(simulation, random, stopWrites.signal))
  return { random, simulation, orders, store, stopWrites }
}

/** To some requests it happens that their cursor is not accepted, and the next time it is. */
function fetchWithInvalidCursors(random: Random): typeof fetch {
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

/** Whether it came to its end. */
async function syncOrDie(orders: Orders, store: MortalCopy, options: Options): Promise<boolean> {
  try {
    await orders.sync({ store, ...options })
    return true
  } catch (error) {
    if (error instanceof Died) return false
    throw error
  }
}

/** By as many processes as it takes. */
async function syncUntilComplete(
  orders: Orders,
  store: MortalCopy,
  options: Options,
): Promise<void> {
  while (!(await syncOrDie(orders, store, options)));
}

function rowOf(order: Order | undefined): Row | undefined {
  if (order === undefined) return undefined
  return { id: order.id, content: order.amount_total, hasUpdatedAt: order.updated_at !== null }
}

function byId<T extends { id: string } | undefined>(rows: Iterable<T>): T[] {
  return [...rows].sort((one, other) => ((one?.id ?? '') < (other?.id ?? '') ? -1 : 1))
}
