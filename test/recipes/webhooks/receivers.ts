import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { recipe } from '../../support/cli/program.ts'
import { temporaryFolder } from '../../support/stores/backend.ts'
import type { SignedDelivery } from '../../support/webhooks/sending/signed-delivery.ts'
import { installN8n, RECEIVER as N8N_RECEIVER } from '../n8n/n8n.ts'

/** What a receiver keeps of an order. */
export interface KeptOrder {
  sequence: number
  /** `null` once it was removed, or before it was fetched. */
  order: unknown
  /** Whether the event had no order, so that it must be fetched. */
  mustFetch: boolean
}

/** A running receiver. */
export interface Receiver {
  /** Sends a delivery and returns the status. */
  deliver(delivery: SignedDelivery): Promise<number>
  kept(): Promise<Map<string, KeptOrder>>
  /** Its working folder. */
  folder: string
  url: string
  close(): Promise<void>
}

/** Starts a receiver with these secrets and an empty store. */
export type StartReceiver = (secrets: readonly string[]) => Promise<Receiver>

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

export const receivers: Record<string, StartReceiver> = {
  async Node(secrets) {
    const { folder, remove } = temporaryFolder()
    await installClient(folder)
    await cp(recipe('webhooks/node/receptor.mjs'), join(folder, 'receptor.mjs'))
    return startProcess([process.execPath, 'receptor.mjs'], {
      secrets,
      folder,
      remove,
      kept: ofSqlite,
    })
  },
  async Python(secrets) {
    const { folder, remove } = temporaryFolder()
    const command = ['python3', recipe('webhooks/python/receptor.py')]
    return startProcess(command, { secrets, folder, remove, kept: ofSqlite })
  },
  async PHP(secrets) {
    const { folder, remove } = temporaryFolder()
    const command = ['php', '-S', '127.0.0.1:0', recipe('webhooks/php/receptor.php')]
    return startProcess(command, { secrets, folder, remove, kept: ofFiles })
  },
  async n8n(secrets) {
    const { folder, remove } = temporaryFolder()
    const workflow = JSON.parse(await readFile(recipe('webhooks/n8n/webhooks-n8n.json'), 'utf8'))
    const command = [process.execPath, N8N_RECEIVER]
    return startProcess(command, {
      ...{ secrets, folder, remove, kept: ofItems },
      env: {
        ...{ N8N_USER_FOLDER: folder, N8N_ENCRYPTION_KEY: 'none' },
        ...{ N8N_MODULES: await installN8n(), N8N_BLOCK_ENV_ACCESS_IN_NODE: 'false' },
      },
      input: JSON.stringify({ workflow, ends: [KEEP_NODE, ERASE_NODE] }),
    })
  },
}

/** The nodes after which an integrator adds the own ones. */
const KEEP_NODE = 'Grave o pedido'
const ERASE_NODE = 'Apague o pedido'

/** Compiles the client into the folder, as an installation of its package. */
async function installClient(folder: string): Promise<void> {
  const place = join(folder, 'node_modules/public-orders-client')
  await mkdir(place, { recursive: true })
  await cp(join(ROOT, 'src/client/package.json'), join(place, 'package.json'))
  const project = ['-p', join(ROOT, 'src/client/tsconfig.json'), '--outDir', join(place, 'dist')]
  await promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), project)
}

interface ReceiverProcess {
  secrets: readonly string[]
  /** Its working folder. */
  folder: string
  remove(): void
  kept(folder: string, url: string): Promise<Map<string, KeptOrder>>
  env?: Record<string, string>
  input?: string
}

async function startProcess(
  [program = '', ...args]: readonly string[],
  { secrets, folder, remove, kept, env = {}, input = '' }: ReceiverProcess,
): Promise<Receiver> {
  const child = spawn(program, args, {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      PORT: '0',
      ...env,
      ORDERS_DIR: join(folder, 'dados'),
      ORDERS_WEBHOOK_SECRET: secrets.join(' '),
    },
  })
  child.stdin.end(input)
  const url = await listening(child).catch((error) => {
    remove()
    throw error
  })
  return {
    deliver: (delivery) => deliverTo(url, delivery),
    kept: () => kept(folder, url),
    folder,
    url,
    async close() {
      child.kill()
      await once(child, 'close')
      remove()
    },
  }
}

/** Sends a delivery as the dispatcher does. */
async function deliverTo(url: string, { headers, body }: SignedDelivery): Promise<number> {
  const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual' })
  await response.arrayBuffer()
  return response.status
}

/** The address that a receiver prints when it listens. */
async function listening(child: ChildProcessWithoutNullStreams): Promise<string> {
  let output = ''
  child.stdout.resume()
  return await new Promise((resolve, reject) => {
    child.stderr.on('data', (chunk) => {
      output += chunk
      const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(output) ?? []
      if (url !== undefined) resolve(`${url}/`)
    })
    child.once('error', reject)
    child.once('close', () => reject(new Error(`the receiver ended:\n${output}`)))
  })
}

async function ofSqlite(folder: string): Promise<Map<string, KeptOrder>> {
  using database = new DatabaseSync(join(folder, 'webhooks.db'))
  const rows = database.prepare('SELECT id, sequence, buscar, pedido FROM pedidos').all()
  return new Map(
    rows.map(({ id, sequence, buscar, pedido }) => [
      String(id),
      {
        sequence: Number(sequence),
        order: JSON.parse(String(pedido)),
        mustFetch: buscar === 1,
      },
    ]),
  )
}

async function ofFiles(folder: string): Promise<Map<string, KeptOrder>> {
  const place = join(folder, 'dados/pedidos')
  const names = await readdir(place).catch(() => [])
  const kept = names.map(async (name): Promise<[string, KeptOrder]> => {
    const { sequence, buscar, pedido } = JSON.parse(await readFile(join(place, name), 'utf8'))
    return [name.replace('.json', ''), { sequence, order: pedido, mustFetch: buscar }]
  })
  return new Map(await Promise.all(kept))
}

/** What the own nodes of an integrator keep: an upsert by id, or a deletion. */
async function ofItems(_folder: string, url: string): Promise<Map<string, KeptOrder>> {
  const emitted = (await (await fetch(url)).json()) as {
    node: string
    item: { order_id: string; sequence: number; pedido: object | null }
  }[]
  return new Map(
    emitted.map(({ node, item: { order_id, sequence, pedido } }) => {
      const mustFetch = node === KEEP_NODE && pedido === null
      return [order_id, { sequence, order: pedido, mustFetch }]
    }),
  )
}
