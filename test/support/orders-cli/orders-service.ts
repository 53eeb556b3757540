import type { Scope } from '../../../src/auth/key-store.ts'
import { DEMO_ACCOUNT } from '../../../src/demo/accounts.ts'
import { demoOrders } from '../../../src/demo/demo-orders.ts'
import type { SourceOrder } from '../../../src/indexing/projection/source-order.ts'
import { HOUR_MS } from '../../../src/lib/durations.ts'
import type { Order } from '../../../src/orders/order.ts'
import { startFaultServer } from '../http/fault-server.ts'
import { createTestApp, type ListBody, ROOMY } from '../http/test-app.ts'
import { isVisible, type Version } from '../simulation/order-generator.ts'

/** How long the API caches a valid key. */
const KEY_CACHE_MS = 5_000
/** The limits of the contract, for `openOrdersService`. */
export const CONTRACT_LIMITS = {}

/**
 * The whole app in this process, behind a fault server, with demo orders and a key that reads most
 * of them. Without `settings`, no account is limited.
 */
export async function openOrdersService(count: number, settings: Record<string, string> = ROOMY) {
  const app = await createTestApp(settings)
  const source = [...demoOrders({ count, seed: 1, until: Date.now() - HOUR_MS })]
  await app.load(source)
  const createKey = async (accountId = DEMO_ACCOUNT, scope: Scope = 'orders:read') =>
    (await app.issue({ accountId, scopes: [scope] })).key
  const key = await createKey()
  const apiUrl = await app.app.listen({ port: 0, host: '127.0.0.1' })

  let delayMs = 0
  /** The number of requests that still pass; later ones wait for `paused`. */
  let requestsLeft = Number.POSITIVE_INFINITY
  let waiting = 0
  let isDown = false
  let paused = Promise.withResolvers<void>()
  const faultServer = await startFaultServer(apiUrl, async () => {
    if (isDown) return 'reset'
    if (requestsLeft-- <= 0) {
      waiting += 1
      await paused.promise
      waiting -= 1
    }
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs))
    return undefined
  })
  const { baseUrl } = faultServer

  return {
    baseUrl,
    /** An empty folder for the output of a command. */
    folder: app.config.dataDir,
    key,
    /** The environment of a command that reads from this service. */
    env: { ORDERS_API_URL: baseUrl, ORDERS_API_KEY: key },
    createKey,

    /** Revokes all keys of the account, and waits until the API rejects them. */
    async revokeKeys() {
      const keys = await app.services.keys.list(DEMO_ACCOUNT)
      for (const { digest } of keys) {
        await app.services.keys.update(digest, { revokedAt: Date.now() })
      }
      await new Promise((resolve) => setTimeout(resolve, KEY_CACHE_MS))
    },

    /** Lets this number of requests pass; later ones wait for `release`. */
    pauseAfter(requests: number) {
      paused = Promise.withResolvers()
      requestsLeft = requests
    },
    /** The number of requests that wait for `release`. */
    waiting: () => waiting,
    release() {
      requestsLeft = Number.POSITIVE_INFINITY
      paused.resolve()
    },
    /** The number of connections that were reset. */
    resets: () => faultServer.requests.filter(({ outcome }) => outcome === 'reset').length,
    /** Delays every response. */
    delay(ms: number) {
      delayMs = ms
    },
    /** Resets every connection until `restore`. */
    fail() {
      isDown = true
    },
    restore() {
      isDown = false
    },
    /** Resets the next connections. */
    reset(times: number) {
      faultServer.plan(...Array.from({ length: times }, () => 'reset' as const))
    },

    /** The orders that the account sees, as they were loaded. */
    visible: () => source.filter((order) => isVisible(order, DEMO_ACCOUNT)),
    /** Writes newer versions. */
    write: (versions: readonly Version[]) => app.load(versions, { mode: 'live' }),

    /** The orders that the API lists, in its order; waits while the account is rate limited. */
    async listed(query = ''): Promise<Order[]> {
      const orders: Order[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const url = `${apiUrl}/v1/orders?limit=100${query}${cursor && `&cursor=${cursor}`}`
        const authorization = `Bearer ${this.env.ORDERS_API_KEY}`
        const response = await fetch(url, { headers: { authorization } })
        if (response.status === 429) {
          await new Promise((resolve) => setTimeout(resolve, 1_000))
          continue
        }
        if (!response.ok) throw new Error(await response.text())
        const page = (await response.json()) as ListBody
        orders.push(...page.data)
        cursor = page.next_cursor
      }
      return orders
    },

    async close() {
      paused.resolve()
      await faultServer.close()
      await app.close()
    },
  }
}

export type OrdersService = Awaited<ReturnType<typeof openOrdersService>>

/** The next version of an order, with a visible change. */
export const changed = (order: SourceOrder, times = 1): SourceOrder => ({
  ...order,
  version: order.version + times,
  changed_at: new Date().toISOString(),
  amount_total: order.amount_total + times,
})

/** The deletion of an order. */
export const erased = ({ id, version, owner_account_id }: SourceOrder, times = 1): Version => ({
  id,
  version: version + times,
  owner_account_id,
  deleted: true,
})
