import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOrdersClient, type Order, type SyncOptions } from '../../src/client/client.ts'
import { createRandom, type Random } from '../../src/demo/random.ts'
import { onServices } from '../support/backend.ts'
import { collect } from '../support/collect.ts'
import { createMortalCopy, Died, type MortalCopy } from '../support/mortal-copy.ts'
import type { Row } from '../support/rows.ts'
import { createTestApp, type TestApp } from '../support/test-app.ts'
import { createTurns, type Turns } from '../support/turns.ts'
import { createWorld, type World } from '../support/world.ts'

/** On a cluster a write costs a hundred times what it costs embedded. */
const { copies, changes, handover } = onServices
  ? { copies: 8, changes: 15, handover: 0.02 }
  : { copies: 60, changes: 40, handover: 0.5 }
const SYNCS = 5
/** How often a copy's orders are changed as it is kept; under endless writing a sync may not end. */
const DISTURBED_SAVES = 36
const NEVER = Number.POSITIVE_INFINITY

let app: TestApp
let turns: Turns
let baseUrl: string

beforeAll(async () => {
  app = await createTestApp()
  turns = createTurns(app.services.openIndex, handover)
  baseUrl = await app.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(async () => {
  await turns.close()
  await app.close()
})

describe('a copy that is synced while others write, by a process that dies now and then', () => {
  it('is what the API lists, once all is quiet', async () => {
    for (let seed = 1; seed <= copies; seed++) {
      const { random, world, orders, copy, quiet } = await beginCopy(seed)
      for (let sync = 0; sync < SYNCS; sync++) {
        await syncOrDie(orders, copy, {
          limit: random.between(1, 8),
          walkAllEveryMs: random.pick([0, NEVER, NEVER]),
        })
      }
      quiet.abort()
      await world.settle()
      await app.refresh()

      await syncToTheEnd(orders, copy, { walkAllEveryMs: NEVER })
      const truth = [...world.truth({ statuses: [] }).values()]
      for (const row of truth.filter(({ filled }) => filled)) {
        expect(rowOf(copy.orders.get(row.id)), `seed ${seed}`).toEqual(row)
      }

      await syncToTheEnd(orders, copy, { walkAllEveryMs: 0 })
      const listed = await collect(orders.list())
      expect(byId(copy.orders.values()), `seed ${seed}`).toEqual(byId(listed))
      expect(byId(listed.map(rowOf)), `seed ${seed}`).toEqual(byId(truth))
    }
  })
})

async function beginCopy(seed: number) {
  const accountId = `acc_copied_${seed}`
  const random = createRandom(seed, 7, 0)
  const world = createWorld(random, accountId, turns)
  await world.churn(random.between(0, changes))
  const { key } = await app.issue({ accountId })
  const { orders } = createOrdersClient({ baseUrl, apiKey: key, fetch: spoiling(random) })
  const quiet = new AbortController()
  const copy = createMortalCopy(random, disturbance(world, random, quiet.signal))
  return { random, world, orders, copy, quiet }
}

/** To some requests it happens that their cursor is not accepted, and the next time it is. */
function spoiling(random: Random): typeof fetch {
  return (url, init) =>
    fetch(random.chance(0.05) ? `${url}`.replace('cursor=', 'cursor=x') : url, init)
}

function disturbance(world: World, random: Random, quiet: AbortSignal) {
  let saves = 0
  return async () => {
    if (quiet.aborted || saves++ >= DISTURBED_SAVES) return
    await world.churn(random.between(0, 4))
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
async function syncToTheEnd(orders: Orders, store: MortalCopy, options: Options): Promise<void> {
  while (!(await syncOrDie(orders, store, options)));
}

function rowOf(order: Order | undefined): Row | undefined {
  if (order === undefined) return undefined
  return { id: order.id, content: order.amount_total, filled: order.updated_at !== null }
}

function byId<T extends { id: string } | undefined>(rows: Iterable<T>): T[] {
  return [...rows].sort((one, other) => ((one?.id ?? '') < (other?.id ?? '') ? -1 : 1))
}
