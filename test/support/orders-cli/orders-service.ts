import { DEMO_ACCOUNT, demoOrders } from '../../../src/demo/demo-orders.ts'
import type { SourceOrder } from '../../../src/indexing/projection/source-order.ts'
import type { Order } from '../../../src/orders/order.ts'
import { type RunningService, runCommand, startService } from '../cli/command.ts'
import type { ListBody } from '../http/test-app.ts'
import { isVisible, type Version } from '../simulation/order-generator.ts'
import { createBackend } from '../stores/backend.ts'

const HOUR_MS = 3_600_000
/** A page of the export a second. */
export const SLOW = { RATE_LIMIT_CAPACITY: '1', RATE_LIMIT_REFILL_PER_SECOND: '1' }
export const FAST = { RATE_LIMIT_CAPACITY: '1000000', RATE_LIMIT_REFILL_PER_SECOND: '1000000' }

/** A service with demo orders, and a key that reads most of them. `settings`: without any, its limits are the contract's. */
export async function openOrdersService(count: number, settings: Record<string, string> = {}) {
  const backend = createBackend()
  const { env, folder } = backend
  const source = [...demoOrders({ count, seed: 1, until: Date.now() - HOUR_MS })]

  async function run(args: readonly string[], input?: string): Promise<string> {
    const { code, stdout, stderr } = await runCommand(args, env, input)
    if (code !== 0) throw new Error(stderr)
    return stdout.trim()
  }
  async function load(versions: readonly Version[], ...flags: string[]) {
    const lines = versions.map((version) => `${JSON.stringify(version)}\n`)
    await run(['index', 'load', '-', ...flags], lines.join(''))
    await backend.refresh()
  }
  const createKey = (account = DEMO_ACCOUNT) => run(['keys', 'create', '--account', account])

  await run(['index', 'init'])
  await load(source)
  const key = await createKey()
  let service: RunningService = await startService([], { ...env, ...settings })
  const { baseUrl } = service

  return {
    baseUrl,
    /** Where nothing else is, for what a command writes. */
    folder,
    key,
    /** The environment of a command that reads from here. */
    env: { ORDERS_API_URL: baseUrl, ORDERS_API_KEY: key },
    createKey,

    /** Revokes all keys of the account. */
    async revokeKeys() {
      const keys: { key_id: string }[] = JSON.parse(
        await run(['keys', 'list', '--account', DEMO_ACCOUNT, '--json']),
      )
      for (const { key_id } of keys) await run(['keys', 'revoke', key_id])
    },

    stop: () => service.stop('SIGKILL'),
    /** Serves again at the same address. */
    async restart(other: Record<string, string> = settings) {
      await service.stop('SIGKILL')
      service = await startService([], { ...env, ...other, PORT: new URL(baseUrl).port })
    },

    /** Orders that the account sees, as they were loaded. */
    visible: () => source.filter((order) => isVisible(order, DEMO_ACCOUNT)),
    /** Writes newer versions. */
    write: (versions: readonly Version[]) => load(versions, '--live'),

    /** What the API lists, in its order; an account that is out of requests waits. */
    async listed(query = ''): Promise<Order[]> {
      const orders: Order[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const url = `${baseUrl}/v1/orders?limit=100${query}${cursor && `&cursor=${cursor}`}`
        const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
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
      await service.stop('SIGKILL')
      await backend.remove()
    },
  }
}

export type OrdersService = Awaited<ReturnType<typeof openOrdersService>>

/** The next version of an order, with something in it that is shown. */
export const changed = (order: SourceOrder, times = 1): SourceOrder => ({
  ...order,
  version: order.version + times,
  changed_at: new Date().toISOString(),
  amount_total: order.amount_total + times,
})

/** What takes an order away. */
export const erased = ({ id, version, owner_account_id }: SourceOrder, times = 1): Version => ({
  id,
  version: version + times,
  owner_account_id,
  deleted: true,
})
