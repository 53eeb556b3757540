import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseConfig } from '../../src/config/config.ts'
import { openServices, type Services } from '../../src/services.ts'
import { type ApiServer, startApiServer } from '../support/cli/api-server.ts'
import { runCommand, runProcess } from '../support/cli/command.ts'
import { startPushingService } from '../support/cli/pushing-service.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { runOrders } from '../support/orders-cli/orders-cli.ts'
import { readSyncedOrders } from '../support/orders-cli/synced-orders.ts'
import { type Backend, createBackend, onServices, opensearch } from '../support/stores/backend.ts'
import { deleteKeyStore, deleteOrdersIndex } from '../support/stores/delete-index.ts'
import { recordedEvents, subscribe } from '../support/webhooks/recorded-events.ts'

const COUNT = 21
const LOST = 'the index of the orders is lost'

let backend: Backend
let running: ApiServer[]
beforeEach(() => {
  running = []
})
afterEach(async () => {
  for (const service of running) await service.close()
})

/** A store for each test, or one that a group of tests shares. */
function open() {
  backend = createBackend()
}
const close = () => backend.remove()

const run = (args: readonly string[], input = '') => runCommand(args, backend.env, input)

async function succeed(args: readonly string[], input?: string): Promise<string> {
  const { code, stdout, stderr } = await run(args, input)
  expect(code, stderr).toBe(0)
  return stdout.trim()
}

async function load(version: number): Promise<void> {
  const orders = Array.from({ length: COUNT }, (_, at) => sourceOrder({ id: `ord_${at}`, version }))
  const lines = orders.map((order) => `${JSON.stringify(order)}\n`).join('')
  await succeed(['index', 'load', '-', '--live'], lines)
  await backend.refresh()
}

async function withServices(work: (services: Services) => Promise<void>): Promise<void> {
  const services = await openServices(parseConfig(backend.env))
  await work(services).finally(() => services.close())
}

const createKey = () => succeed(['keys', 'create', '--account', 'acc_1'])

async function serve(env: Record<string, string> = {}): Promise<ApiServer> {
  const service = await startApiServer({ ...backend.env, ...env })
  running.push(service)
  return service
}

async function list({ baseUrl }: ApiServer, key: string) {
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch(`${baseUrl}/v1/orders?limit=100`, { headers })
  const { data } = (await response.json()) as { data?: unknown[] }
  return { status: response.status, orders: data?.length }
}

async function isReady({ operations }: ApiServer): Promise<number> {
  return (await operations.inject('/health/ready')).statusCode
}

const UNAVAILABLE = { status: 503, orders: undefined }

describe('a lost orders index', () => {
  beforeEach(open)
  afterEach(close)

  it('a lost orders index causes 503 until it is recreated and loaded, and a synced store stays complete', async () => {
    await load(1)
    const key = await createKey()
    let service = await serve()
    expect(await list(service, key)).toEqual({ status: 200, orders: COUNT })
    const place = () => ({
      cwd: backend.folder,
      env: { ORDERS_API_URL: service.baseUrl, ORDERS_API_KEY: key },
    })
    const syncedCount = async () => (await readSyncedOrders(`${backend.folder}/copia`)).size
    expect((await runOrders(['sync', 'copia'], place())).code).toBe(0)
    expect((await runOrders(['sync', 'sqlite:outra.db'], place())).code).toBe(0)

    await deleteOrdersIndex(backend)
    expect(await list(service, key)).toEqual(UNAVAILABLE)
    expect(await isReady(service)).toBe(503)
    expect(await createKey()).toMatch(/^key_live_/)
    expect(await list(service, key)).toEqual(UNAVAILABLE)
    expect(await run(['serve'])).toMatchObject({ code: 1, stderr: expect.stringContaining(LOST) })

    await succeed(['index', 'init', '--after-loss'])
    await service.close()
    service = await serve({ PORT: new URL(service.baseUrl).port })
    const stopped = await runOrders(['sync', 'copia', '--all'], place())
    expect(stopped.code).toBe(1)
    expect(stopped.stderr).toContain('--allow-mass-removal')
    expect(stopped.stderr).toContain('Para continuar:\n  orders sync copia --all\n')
    expect(await syncedCount()).toBe(COUNT)
    const permitted = ['sync', 'sqlite:outra.db', '--all', '--allow-mass-removal']
    expect((await runOrders(permitted, place())).stdout).toContain(`, ${COUNT} removidos;`)

    await load(2)
    expect(await list(service, key)).toEqual({ status: 200, orders: COUNT })
    const { code, stdout } = await runOrders(['sync', 'copia'], place())
    expect(code).toBe(0)
    expect(stdout).toContain(', 0 removidos;')
    expect(await syncedCount()).toBe(COUNT)
  })
})

describe('a command with a lost orders index', () => {
  beforeAll(async () => {
    open()
    await load(1)
    await createKey()
    await deleteOrdersIndex(backend)
  })
  afterAll(close)

  it.each([
    [['serve']],
    [['serve', '--demo']],
    [['index', 'init']],
    [['index', 'load', '-']],
    [['index', 'load', '-', '--stream']],
    [['index', 'watch']],
    [['index', 'reindex']],
    [['index', 'reindex', '--finish']],
    [['index', 'reindex', '--rollback']],
    [['index', 'check']],
    [['index', 'status']],
  ])('the command %j fails with the recovery step while the orders index is lost', async (args) => {
    const { code, stdout, stderr } = await run(args)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain(LOST)
    expect(stderr).toContain('stop "serve", "index watch" and "webhooks deliver", then')
    expect(stderr).toContain('"index init --after-loss"')
    expect(stderr).toContain('"index load --repair --announce-since INSTANT FILE"')
  })

  it('a server of several processes exits while the orders index is lost', async () => {
    const workers = { WORKERS: '2', PORT: '0', OPERATIONS_PORT: '0' }
    // Without Redis, each worker counts its rate limits locally.
    const env = { REDIS_URL: 'redis://127.0.0.1:1', ...backend.env, ...workers }
    const { code, stderr } = await runProcess(['serve'], env)
    expect(code).toBe(1)
    expect(stderr).toContain(LOST)
  })

  it('commands on keys and accounts work and do not create the lost index', async () => {
    const [record] = JSON.parse(await succeed(['keys', 'list', '--account', 'acc_1', '--json']))
    await succeed(['keys', 'roll', record.key_id])
    await succeed(['keys', 'revoke', record.key_id])
    await succeed(['accounts', 'block', 'acc_1'])
    await succeed(['accounts', 'unblock', 'acc_1'])
    expect((await run(['index', 'status'])).stderr).toContain(LOST)
  })
})

describe('lost keys and accounts', () => {
  beforeEach(open)
  afterEach(close)

  it('lost keys and accounts stop every command that would recreate them, until init --after-loss', async () => {
    await load(1)
    await createKey()
    await succeed(['accounts', 'block', 'acc_1'])
    await deleteKeyStore(backend)
    const commands = [
      ['keys', 'create', '--account', 'acc_1'],
      ['accounts', 'unblock', 'acc_1'],
      ['index', 'init'],
      ['index', 'load', '-'],
    ]
    for (const args of commands) {
      const { code, stdout, stderr } = await run(args)
      expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' })
      expect(stderr).toContain('the store of keys and accounts is lost')
      expect(stderr).toContain(
        'stop "serve", then "index init --after-loss", then "accounts block"',
      )
    }
    const { code, stderr } = await run(['index', 'init', '--after-loss'])
    expect(code, stderr).toBe(0)
    expect(stderr).toContain('"keys create" for every key that is lost')
    await succeed(['accounts', 'block', 'acc_1'])
    const key = await createKey()
    await succeed(['accounts', 'unblock', 'acc_1'])
    expect(await list(await serve(), key)).toEqual({ status: 200, orders: COUNT })
  })

  // On the embedded store, no command starts without them.
  if (onServices) {
    it('a server returns 503 while keys and accounts are lost, also in a new process and after a load', async () => {
      await load(1)
      const key = await createKey()
      const service = await serve()
      await deleteKeyStore(backend)
      expect(await list(service, key)).toEqual(UNAVAILABLE)
      expect((await run(['index', 'load', '-', '--live'])).code).toBe(1)
      expect((await run(['index', 'init'])).code).toBe(1)
      const restarted = await serve()
      expect(await list(restarted, key)).toEqual(UNAVAILABLE)
      expect(await isReady(restarted)).toBe(503)
    })

    it.each([
      ['a block', 'PUT /v1/accounts/acc_1/block', {}],
      ['a key', 'POST /v1/accounts/acc_1/keys', {}],
      ['a repeatable key', 'POST /v1/accounts/acc_1/keys', { 'idempotency-key': 'k_1' }],
    ])(
      'the management API returns 503 to %s instead of recreating them, and continues',
      async (_what, route, headers) => {
        await load(1)
        const service = startPushingService(backend.env)
        const [method = '', url = ''] = route.split(' ')
        const change = () => service.manage(method, url, headers)
        try {
          await deleteKeyStore(backend)
          expect(await change()).toBe(503)
          await succeed(['index', 'init', '--after-loss'])
          expect(await change()).toBeLessThan(300)
        } finally {
          await service.stop()
        }
      },
    )
  }
})

describe('index init --after-loss', () => {
  beforeEach(open)
  afterEach(close)

  it('keeps keys and accepts a load', async () => {
    await load(1)
    const key = await createKey()
    await deleteOrdersIndex(backend)
    const { code, stderr } = await run(['index', 'init', '--after-loss'])
    expect(code).toBe(0)
    expect(stderr).toContain('"index load --repair --announce-since INSTANT FILE"')
    expect(stderr).toContain('Start "serve", "index watch" and "webhooks deliver" only after that')
    await load(2)
    expect(await list(await serve(), key)).toEqual({ status: 200, orders: COUNT })
  })

  it('the recovery of lost orders announces only the changes since the loss', async () => {
    await load(1)
    await createKey()
    await withServices((services) => subscribe({ services, refresh: backend.refresh }, 'acc_1'))
    await deleteOrdersIndex(backend)
    await succeed(['index', 'init', '--after-loss'])
    const orders = [
      sourceOrder({ version: 2, changed_at: '2026-03-09T00:00:00Z', id: 'ord_0' }),
      sourceOrder({ version: 2, changed_at: '2026-03-11T00:00:00Z', id: 'ord_new' }),
    ]
    const lines = orders.map((order) => `${JSON.stringify(order)}\n`).join('')
    const since = ['--announce-since', '2026-03-10T00:00:00Z']
    await succeed(['index', 'load', '--repair', ...since, '-'], lines)
    await withServices(async (services) =>
      expect(await recordedEvents({ services, refresh: backend.refresh })).toEqual([
        'ord_new 1 order.created acc_1 new to PAID',
        'ord_new 2 order.paid acc_1 new to PAID',
      ]),
    )
  })

  it.each([
    ['that was never initialised', async () => {}],
    ['that lost nothing', () => load(1)],
  ])('index init --after-loss rejects a store %s', async (_where, prepare) => {
    await prepare()
    const { code, stderr } = await run(['index', 'init', '--after-loss'])
    expect(code).toBe(1)
    expect(stderr).toContain('nothing is lost')
  })
})

describe('a store that was never initialised', () => {
  beforeEach(open)
  afterEach(close)

  it('accepts keys before its index, and OpenSearch requests get 503 until the index exists', async () => {
    const key = await createKey()
    const service = await serve()
    if (onServices) {
      expect(await list(service, key)).toEqual(UNAVAILABLE)
      const prefix = `${backend.env['INDEX_PREFIX']}`
      const made = await opensearch<{ index: string }[]>(
        'GET',
        `_cat/indices/${prefix}*?format=json`,
      )
      expect(made.map(({ index }) => index.slice(prefix.length))).toEqual(
        expect.not.arrayContaining(['orders-v1']),
      )
    }
    await succeed(['index', 'init'])
    expect(await list(service, key)).toEqual({ status: 200, orders: 0 })
  })
})
