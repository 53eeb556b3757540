import { parseConfig } from '../../../src/config/config.ts'
import { openServices, type Services } from '../../../src/services.ts'
import type { Delivery } from '../../../src/webhooks/deliveries/delivery.ts'
import { runCommand } from '../../support/cli/command.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { type Backend, createBackend } from '../../support/stores/backend.ts'
import { delivery } from '../../support/webhooks/delivery.ts'

export const URL_OF_RECEIVER = 'https://receiver.example/hooks'

/**
 * The commands for webhooks on isolated stores; `remove` deletes them. `settings` are added to
 * those of the stores.
 */
export function openWebhookCommands(settings: Record<string, string> = {}) {
  const backend: Backend = createBackend()
  const env = { ...backend.env, ...settings }

  const run = (...args: string[]) => runCommand(['webhooks', ...args], env)
  async function json(...args: string[]) {
    const { code, stdout, stderr } = await run(...args, '--json')
    if (code !== 0) throw new Error(stderr)
    return JSON.parse(stdout)
  }
  /** Runs `work` as another process that shares the stores. */
  async function withServices<T>(work: (services: Services) => Promise<T>): Promise<T> {
    const services = await openServices(parseConfig(env))
    try {
      return await work(services)
    } finally {
      await services.close()
      await backend.refresh()
    }
  }

  /** Loads changes of orders as live ones. */
  async function load(...changes: readonly object[]): Promise<void> {
    const lines = changes.map((change) => `${JSON.stringify(change)}\n`).join('')
    const { code, stderr } = await runCommand(['index', 'load', '--live', '-'], env, lines)
    if (code !== 0) throw new Error(stderr)
    await backend.refresh()
  }

  return {
    env,
    backend,
    remove: backend.remove,
    run,
    json,
    withServices,
    create: (...args: string[]) =>
      json('create', '--account', 'acc_1', '--url', URL_OF_RECEIVER, ...args),

    /** Loads the order `ord_1` of `acc_1`. */
    loadOrder: () => load(sourceOrder()),
    load,

    /** Stores a delivery to an endpoint, of an event that was recorded just now. */
    async deliver(
      endpointId: string,
      changes: Parameters<typeof delivery>[0] = {},
    ): Promise<Delivery> {
      const { event, ...rest } = changes
      const id = `dlv_${endpointId.slice(3)}_${event?.sequence ?? 1}`
      const made = delivery({
        id,
        endpointId,
        event: { recordedAt: Date.now(), ...event },
        ...rest,
      })
      await withServices(({ webhooks }) => webhooks.deliveries.create([made]))
      return made
    },
  }
}
