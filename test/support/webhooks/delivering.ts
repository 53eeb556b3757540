import { Webhook } from 'standardwebhooks'
import { expect } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import { openServices } from '../../../src/services.ts'
import {
  type BackgroundProcess,
  type ProcessOutput,
  startBackground,
} from '../cli/background-process.ts'
import { runCommand } from '../cli/command.ts'
import { createBackend } from '../stores/backend.ts'
import { eventually } from './dispatching.ts'
import { type ReceivedWebhook, startRecordingReceiver } from './sending/recording-receiver.ts'

/** A delivery as `webhooks deliveries --json` prints it. */
export interface PrintedDelivery {
  id: string
  type: string
  order_id: string
  state: string
  attempts: { status: number | null; error: string | null }[]
}

export interface Subscription {
  id: string
  secret: string
}

const LOOPBACK = '127.0.0.0/8'
const LISTING_INTERVAL_MS = 50

/** A stopped process of these tests must not end by itself, so its attempts last longer. */
export const LONG_ATTEMPTS = { WEBHOOK_TIMEOUT_MS: '60000' }

/** Isolated stores, a receiver on the loopback interface, and processes that deliver to it. */
export async function openDelivering() {
  const backend = createBackend()
  const env = { ...backend.env, WEBHOOK_ALLOW: LOOPBACK }
  const receiver = await startRecordingReceiver()
  const running: BackgroundProcess[] = []

  async function json(...args: readonly string[]) {
    const { code, stdout, stderr } = await runCommand(['webhooks', ...args, '--json'], env)
    if (code !== 0) throw new Error(stderr)
    return JSON.parse(stdout)
  }

  const delivering = {
    env,
    receiver,
    backend,
    json,

    /** Creates an endpoint of `acc_1` that receives events from now on. Start dispatchers later. */
    async subscribe(...args: readonly string[]): Promise<Subscription> {
      const created = ['create', '--account', 'acc_1', '--url', receiver.url(), ...args]
      const { id, secret } = await json(...created)
      const services = await openServices(parseConfig(env))
      await services.webhooks.endpoints.update(id, (endpoint) => ({
        ...endpoint,
        startsAt: endpoint.createdAt,
      }))
      await services.close()
      await backend.refresh()
      return { id, secret }
    },

    /** Loads source orders or deletions, as live changes. */
    async load(...orders: readonly object[]): Promise<void> {
      const lines = orders.map((order) => `${JSON.stringify(order)}\n`).join('')
      const { code, stderr } = await runCommand(['index', 'load', '--live', '-'], env, lines)
      if (code !== 0) throw new Error(stderr)
    },

    /** Starts `webhooks deliver` in a separate process. */
    startDeliver(settings: Record<string, string> = {}): BackgroundProcess {
      const started = startBackground(['webhooks', 'deliver'], { ...env, ...settings })
      running.push(started)
      return started
    },

    /** Waits for this number of requests, and returns all. */
    receives: (count: number): Promise<readonly ReceivedWebhook[]> =>
      eventually(() => {
        expect(receiver.received.length).toBeGreaterThanOrEqual(count)
        return receiver.received
      }),

    /** Waits until the endpoint has this number of delivered events, and returns all deliveries. */
    async delivers(id: string, count: number): Promise<readonly PrintedDelivery[]> {
      // Cheaper to await than their deliveries, each listing of which runs a command.
      await delivering.receives(count)
      return await eventually(async () => {
        const found: PrintedDelivery[] = await json('deliveries', id)
        expect(found.filter(({ state }) => state === 'delivered')).toHaveLength(count)
        return found
      }, LISTING_INTERVAL_MS)
    },

    async close() {
      await Promise.all(running.map((one) => one.stop('SIGKILL')))
      await receiver.close()
      await backend.remove()
    },
  }
  return delivering
}

export type Delivering = Awaited<ReturnType<typeof openDelivering>>

const DELIVERS = 'this process delivers webhooks now'
const STANDBY = 'the dispatcher of webhooks is on standby'
const STATES = [DELIVERS, STANDBY, 'this process delivers webhooks no longer']

/** Waits until a process is the dispatcher, or until it stands by. */
export const becomesDispatcher = ({ reaches }: Pick<ProcessOutput, 'reaches'>) =>
  reaches(STATES, DELIVERS)
export const standsBy = ({ reaches }: Pick<ProcessOutput, 'reaches'>) => reaches(STATES, STANDBY)

/** The body of a webhook, verified with the public package `standardwebhooks`. */
export function verified({ bytes, headers }: ReceivedWebhook, secret: string): unknown {
  return new Webhook(secret).verify(bytes.toString(), headers as Record<string, string>)
}
