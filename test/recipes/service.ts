import { DEMO_ACCOUNT } from '../../src/demo/accounts.ts'
import { demoOrders } from '../../src/demo/demo-orders.ts'
import type { SourceOrder } from '../../src/indexing/projection/source-order.ts'
import { HOUR_MS } from '../../src/lib/durations.ts'
import type { Order } from '../../src/orders/order.ts'
import { startApiServer } from '../support/cli/api-server.ts'
import { runCommand } from '../support/cli/command.ts'
import { forward, type ServerResponseStub } from '../support/http/fault-server.ts'
import type { ListBody } from '../support/http/test-app.ts'
import { openServedStore } from '../support/stores/served-store.ts'
import { startRecipeFaultServer } from './fault-server.ts'

export interface RecipeServiceOptions {
  /** The initial source orders; the account has access to most of them. */
  count?: number
  /** Additional settings of the service, such as its limits. */
  settings?: Record<string, string>
}

/** The documented limits, which {@link openServedStore} lifts. */
export const CONTRACT_LIMITS = { RATE_LIMIT_CAPACITY: '20', RATE_LIMIT_REFILL_PER_SECOND: '10' }

/** Exceeds the capacity by the refill of two seconds. */
const DRAIN_COUNT = 40

/**
 * A service with orders of every kind, some without `updated_at`, and a key that reads them. A
 * proxy between service and recipe records the requests.
 */
export async function openRecipeService({ count = 700, settings = {} }: RecipeServiceOptions = {}) {
  const store = openServedStore()
  const until = Date.now() - HOUR_MS
  const orders = [...demoOrders({ count, seed: 1, until })]
  let mine = orders.filter(isListed)
  let seed = 1
  await store.load(orders)
  const service = await startApiServer({ ...store.env, ...settings })
  const key = await store.createKey(DEMO_ACCOUNT)
  // A separate key, so that the reads of a test do not count against the recipe's limit.
  const unlimited = 'RATE_LIMIT_CAPACITY' in settings ? await startApiServer(store.env) : service
  const faultServer = await startRecipeFaultServer(service.baseUrl)

  async function write(lines: readonly object[]) {
    const input = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    const { code, stderr } = await runCommand(['index', 'load', '-', '--live'], store.env, input)
    if (code !== 0) throw new Error(stderr)
  }

  return {
    key,
    /** The API URL for a recipe. */
    baseUrl: faultServer.baseUrl,
    faultServer,
    /** Another key of the account, or one of an account or a sandbox without orders. */
    createKey: store.createKey,

    /** The current listing of the API, by id. */
    async listed(): Promise<Map<string, Order>> {
      const listed = new Map<string, Order>()
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query = `limit=100${cursor && `&cursor=${cursor}`}`
        const headers = { authorization: `Bearer ${key}` }
        const response = await fetch(`${unlimited.baseUrl}/v1/orders?${query}`, { headers })
        const page = (await response.json()) as ListBody
        for (const order of page.data) listed.set(order.id, order)
        cursor = page.next_cursor
      }
      return listed
    },

    /**
     * Changes some orders (of `ids`, if given), dates an undated one and adds one; returns their
     * ids. `more`: further fields of the changed orders.
     */
    async change(
      ids: readonly string[] = mine.map(({ id }) => id),
      more: Partial<SourceOrder> = {},
    ): Promise<string[]> {
      const wanted = mine.filter(({ id }) => ids.includes(id))
      const dated = wanted.filter(({ changed_at }) => changed_at !== null).slice(0, 5)
      const undated = mine.filter(({ changed_at }) => changed_at === null).slice(0, 1)
      const changed = [...dated, ...undated].map((order) => ({ ...changedOnce(order), ...more }))
      if (undated.length === 0) throw new Error('too few orders to change')
      const born = [...demoOrders({ count: 20, seed: ++seed, until: Date.now() })]
        .filter(isListed)
        .filter(({ changed_at }) => changed_at !== null)
        .slice(0, 1)
      const written = new Map([...changed, ...born].map((order) => [order.id, order]))
      mine = mine.map((order) => written.get(order.id) ?? order)
      await write([...written.values()])
      return [...written.keys()]
    },

    /** Removes an order from its account; returns its id. */
    async erase(): Promise<string> {
      const last = mine.pop()
      if (last === undefined) throw new Error('no order to erase')
      const { id, version, owner_account_id } = last
      await write([{ id, version: version + 1, owner_account_id, deleted: true }])
      return id
    },

    /** Empties the account's bucket after `atPage` pages; the next request receives a 429. */
    emptyBucketAt(atPage: number) {
      // The recipe's own request could arrive after the bucket refilled a token.
      faultServer.before(atPage, () => drainBucket(service.baseUrl, key))
    },

    async close() {
      await faultServer.close()
      await Promise.all([service.close(), unlimited.close()])
      await store.close()
    },
  }
}

export type RecipeService = Awaited<ReturnType<typeof openRecipeService>>

/** The greatest `updated_at` among orders, in milliseconds. */
export function newestMs(orders: ReadonlyMap<string, Order>): number {
  const dates = [...orders.values()].flatMap(({ updated_at }) => updated_at ?? [])
  return Math.max(...dates.map(Date.parse))
}

function isListed({ owner_account_id, coproducer_account_ids, payments }: SourceOrder) {
  return (
    [owner_account_id, ...(coproducer_account_ids ?? [])].includes(DEMO_ACCOUNT) &&
    payments.some(({ status }) => status !== 'FAILED')
  )
}

/** Sends requests until the service rejects one, and returns that response. */
async function drainBucket(baseUrl: string, key: string): Promise<ServerResponseStub> {
  const url = new URL('/v1/orders/none', baseUrl)
  const headers = { authorization: `Bearer ${key}` }
  for (;;) {
    // Together, because one after the other could be as slow as the refill.
    const sent = Array.from({ length: DRAIN_COUNT }, () => forward(url, headers))
    const rejected = (await Promise.all(sent)).find(({ status }) => status === 429)
    if (rejected) return rejected
  }
}

const changedOnce = (order: SourceOrder): SourceOrder => ({
  ...order,
  version: order.version + 1,
  changed_at: new Date().toISOString(),
  amount_total: order.amount_total + 101,
  items: order.items.slice(0, 1),
})
