import { randomBytes } from 'node:crypto'
import type { NamedSecret } from '../../../src/lib/secrets/named-secret.ts'
import { findFreePort } from '../../harness/processes/ports.ts'
import { type RunningService, runCommand, startService } from '../cli/command.ts'
import { type Backend, LONG_DEADLINES, temporaryFolder } from './backend.ts'

/** A process that serves, and its URLs. */
export interface Served extends RunningService {
  port: number
  operationsPort: number
}

const KID = 'kid'

function openEmbeddedBackend(): Pick<Backend, 'env' | 'remove'> {
  const { folder, remove } = temporaryFolder()
  return { env: { DATA_DIR: folder, ...LONG_DEADLINES }, remove: async () => remove() }
}

/**
 * The stores of one test, and processes that serve them. No account is limited. `backend`: where
 * the stores are; an embedded store when absent.
 */
export function openServedStore(backend = openEmbeddedBackend()) {
  const secret = randomBytes(32).toString('base64')
  const env = {
    ...backend.env,
    CURSOR_SECRETS: `${KID}:${secret}`,
    RATE_LIMIT_CAPACITY: '1000000',
    RATE_LIMIT_REFILL_PER_SECOND: '1000000',
  }
  const running: Served[] = []

  return {
    env,
    /** The secret that signs its cursors. */
    cursorSecret: { kid: KID, secret: Buffer.from(secret, 'base64') } satisfies NamedSecret,

    /** Starts a process, by default on free ports, which stay free for its successor. */
    async serve(more: Record<string, string> = {}): Promise<Served> {
      const own = { PORT: await freePort(), OPERATIONS_PORT: await freePort() }
      const service = await startService([], { ...env, ...own, ...more })
      const operations = /operations at (http:[^"]+)/.exec(service.output().stderr)?.[1] ?? ''
      const ports = { port: portOf(service.baseUrl), operationsPort: portOf(operations) }
      const served = { ...service, ...ports }
      running.push(served)
      return served
    },

    async createKey(account: string, options: readonly string[] = []): Promise<string> {
      const { stdout } = await runCommand(['keys', 'create', '--account', account, ...options], env)
      return stdout.trim()
    },

    async load(orders: readonly object[]) {
      const lines = orders.map((order) => `${JSON.stringify(order)}\n`).join('')
      const { code, stderr } = await runCommand(['index', 'load', '-'], env, lines)
      if (code !== 0) throw new Error(stderr)
    },

    async close() {
      await Promise.all(running.map((service) => service.stop('SIGKILL')))
      await backend.remove()
    },
  }
}

export type ServedStore = ReturnType<typeof openServedStore>

const freePort = async () => `${await findFreePort(() => true)}`
const portOf = (url: string) => Number(new URL(url).port)
