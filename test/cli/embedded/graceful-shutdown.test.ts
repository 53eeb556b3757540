import { hash } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { findFreePort } from '../../harness/processes/ports.ts'
import {
  type RunningService,
  runCommand,
  serveInProcess,
  startService,
} from '../../support/cli/command.ts'
import {
  createCounts,
  expectAllSucceeded,
  RETRY_WHEN_SHED,
  sendContinuously,
} from '../../support/http/keep-alive-client.ts'
import { readResponses } from '../../support/http/raw-http.ts'
import { ROOMY } from '../../support/http/test-app.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { type Backend, createBackend } from '../../support/stores/backend.ts'

let backend: Backend
let headers: { authorization: string }
const running: RunningService[] = []
beforeAll(async () => {
  backend = createBackend()
  await runCommand(['index', 'load', '-'], backend.env, sourceLines())
  headers = { authorization: await createKey('acc_1') }
})
afterEach(async () => {
  for (const service of running.splice(0)) await service.stop()
})
afterAll(() => backend.remove())

async function createKey(account: string): Promise<string> {
  const created = await runCommand(['keys', 'create', '--account', account], backend.env)
  return `Bearer ${created.stdout.trim()}`
}

/** One order of an account, and of a second account more than the socket buffers hold. */
function sourceLines(): string {
  const tracking = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, n) => [`key_${n}`, 'x'.repeat(1_000)]),
  )
  const orders = Array.from({ length: 8 }, (_, n) =>
    sourceOrder({ id: `ord_large_${n}`, owner_account_id: 'acc_large', tracking }),
  )
  return [sourceOrder(), ...orders].map((order) => `${JSON.stringify(order)}\n`).join('')
}

/** Serves in this process, or as `start` does. */
async function serve(start = serveInProcess, env: Record<string, string> = {}) {
  const service = await start([], { ...backend.env, ...ROOMY, ...env })
  running.push(service)
  const operations = /operations at (http:[^"]+)/.exec(service.output().stderr)?.[1]
  const isReady = async () => (await fetch(`${operations}/health/ready`)).status === 200
  return { ...service, isReady, listing: `${service.baseUrl}/v1/orders` }
}

const connectTo = async ({ baseUrl }: Pick<RunningService, 'baseUrl'>) => {
  const socket = connect(Number(new URL(baseUrl).port), '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

it('graceful shutdown reports "not ready" at once, and closes each connection after its response', async () => {
  const service = await serve()
  const kept = await connectTo(service)
  expect(await service.isReady()).toBe(true)
  const stopped = service.stop()
  await expect.poll(service.isReady).toBe(false)
  for (let sent = 0; sent < 5; sent++) {
    const answer = await fetch(service.listing, { headers })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('connection')).toBe('close')
    expect(await answer.json()).toMatchObject({ object: 'list' })
  }
  kept.destroy()
  expect(await stopped).toBe(0)
})

it(
  'graceful shutdown sends Connection: close also on the responses in flight',
  RETRY_WHEN_SHED,
  async () => {
    const service = await serve()
    const counts = createCounts()
    let mayConnect = true
    const once = { url: service.listing, headers, mayConnect: () => mayConnect, counts }
    const clients = Array.from({ length: 10 }, () => sendContinuously(once))
    await expect.poll(() => counts.answers[200] ?? 0).toBeGreaterThan(50)
    mayConnect = false
    expect(await service.stop()).toBe(0)
    await Promise.all(clients)
    expectAllSucceeded(counts, service)
    expect(counts).toMatchObject({ closes: 10, failures: [] })
  },
)

it('graceful shutdown lets a client read a large response to its end', async () => {
  const authorization = `Authorization: ${await createKey('acc_large')}\r\n`
  const service = await serve()
  const socket = await connectTo(service)
  socket.write(`GET /v1/orders HTTP/1.1\r\nHost: localhost\r\n${authorization}\r\n`)
  await once(socket, 'readable')
  const stopped = service.stop()
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  const [response] = await readResponses(socket, 1)
  expect(JSON.parse(response?.body ?? '').data).toHaveLength(8)
  expect(await stopped).toBe(0)
})

it('graceful shutdown exits 0 although a client of the console stalls within its body', async () => {
  const service = await serve(startService, { CONSOLE_PORT: '0' })
  const consoleUrl = () => /console at (http:[^"]+)/.exec(service.output().stderr)?.[1]
  await expect.poll(consoleUrl).toBeDefined()
  const baseUrl = consoleUrl() ?? ''
  const socket = await connectTo({ baseUrl })
  const head = ['POST /v1/session HTTP/1.1', 'Host: localhost', `Origin: ${baseUrl}`]
  const body = ['Content-Type: application/json', 'Content-Length: 100', 'Expect: 100-continue']
  socket.write(`${[...head, ...body].join('\r\n')}\r\n\r\n`)
  expect(String((await once(socket, 'data'))[0])).toContain('100 Continue')
  socket.write('{')
  expect(await service.stop()).toBe(0)
})

it.each(['management', 'console'])(
  'graceful shutdown responds on an idle connection to the %s, and on a new one',
  async (name) => {
    const service = await serve(startService, { MANAGEMENT_PORT: '0', CONSOLE_PORT: '0' })
    const url = () => new RegExp(`${name} at (http:[^"]+)`).exec(service.output().stderr)?.[1]
    await expect.poll(url).toBeDefined()
    const request = 'GET /missing HTTP/1.1\r\nHost: localhost\r\n\r\n'
    const idle = await connectTo({ baseUrl: url() ?? '' })
    idle.write(request)
    await once(idle, 'data')
    const stopped = service.stop()
    await expect.poll(() => service.output().stderr).toContain('"msg":"closing"')
    for (const socket of [idle, await connectTo({ baseUrl: url() ?? '' })]) {
      socket.write(request)
      const [response] = await readResponses(socket)
      expect(response).toMatchObject({ status: 404, headers: { connection: 'close' } })
    }
    expect(await stopped).toBe(0)
  },
)

it('graceful shutdown exits 0 while pushed orders wait for another writer, and a client reads slowly', async () => {
  const token = 'token_of_the_tests'
  const management = {
    MANAGEMENT_PORT: '0',
    MANAGEMENT_TOKENS: `tests:admin:${hash('sha256', token)}`,
  }
  const service = await serve(startService, management)
  const url = () => /management at (http:[^"]+)/.exec(service.output().stderr)?.[1]
  await expect.poll(url).toBeDefined()
  const socket = await connectTo(service)
  const authorization = `Authorization: ${await createKey('acc_large')}\r\n`
  socket.write(`GET /v1/orders HTTP/1.1\r\nHost: localhost\r\n${authorization}\r\n`)
  await once(socket, 'readable')
  const writer = new DatabaseSync(`${backend.env['DATA_DIR']}/watch.lock`)
  writer.exec('BEGIN IMMEDIATE')
  const push = async () => {
    const response = await fetch(`${url()}/v1/source-orders`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
      body: JSON.stringify(sourceOrder()),
    })
    return response.status
  }
  const before = push()
  await pause(200)
  const stopped = service.stop()
  await pause(2_500)
  expect(await Promise.all([before, push()])).toEqual([503, 503])
  expect(await stopped).toBe(0)
  socket.destroy()
  writer.close()
})

it('serve restarts on the same port after SIGKILL under load', async () => {
  const port = `${await findFreePort(() => true)}`
  const first = await serve(startService, { PORT: port })
  const counts = createCounts()
  let mayConnect = true
  const client = { url: first.listing, headers, mayConnect: () => mayConnect, counts }
  const clients = Array.from({ length: 10 }, () => sendContinuously(client))
  await expect.poll(() => counts.answers[200] ?? 0).toBeGreaterThan(50)
  mayConnect = false
  await first.stop('SIGKILL')
  await Promise.all(clients)

  const again = await serve(startService, { PORT: port })
  expect((await fetch(again.listing, { headers })).status).toBe(200)
})
