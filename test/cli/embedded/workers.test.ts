import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Health } from '../../../src/http/operations/readiness.ts'
import {
  type RunningService,
  runCommand,
  runProcess,
  startService,
} from '../../support/cli/command.ts'
import {
  createCounts,
  expectAllSucceeded,
  RETRY_WHEN_SHED,
  sendContinuously,
} from '../../support/http/keep-alive-client.ts'
import { metricIn } from '../../support/http/metric.ts'
import { openSocket, readResponses } from '../../support/http/raw-http.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { type Backend, createBackend } from '../../support/stores/backend.ts'

/** Longer than the time within which a second signal counts as a duplicate of the first. */
const SECOND_SIGNAL_MS = 1_200

let backend: Backend
let env: Record<string, string>
let service: RunningService
let headers: { authorization: string }
beforeAll(async () => {
  backend = createBackend()
  env = {
    // Without Redis, each process of the embedded service counts its rate limits locally.
    REDIS_URL: 'redis://127.0.0.1:1',
    ...backend.env,
    WORKERS: '2',
    RATE_LIMIT_CAPACITY: '100000',
    RATE_LIMIT_REFILL_PER_SECOND: '100000',
  }
  await runCommand(['index', 'load', '-'], backend.env, `${JSON.stringify(sourceOrder())}\n`)
  const created = await runCommand(['keys', 'create', '--account', 'acc_1'], backend.env)
  headers = { authorization: `Bearer ${created.stdout.trim()}` }
  service = await startService([], env)
})
afterAll(async () => {
  await service.stop('SIGKILL')
  await backend.remove()
})

interface LogLine {
  pid: number
  msg: string
  status?: number
}

/** All logged lines; each must be valid JSON. */
function log({ output }: RunningService): LogLine[] {
  const whole = output().stderr.split('\n').slice(0, -1)
  return whole.map((line) => JSON.parse(line))
}

const pidsOf = (lines: LogLine[]) => [...new Set(lines.map(({ pid }) => pid))]
const workersOf = (running: RunningService) =>
  pidsOf(log(running).filter(({ msg }) => msg.startsWith('Server listening')))

/** The oldest one. A signal to the process 0 would reach the processes of the tests. */
function firstWorkerOf(running: RunningService): number {
  const [pid] = workersOf(running)
  if (pid === undefined) throw new Error('no worker has logged that it listens')
  return pid
}

function operationsOf(running: RunningService) {
  const [, origin] = /operations at (http:[^"]+)/.exec(running.output().stderr) ?? []
  return (path: string) => fetch(`${origin}${path}`)
}

/** Sends this number of requests, each on its own connection. */
async function sendRequests(times: number, { baseUrl } = service): Promise<void> {
  for (let sent = 0; sent < times; sent++) {
    const options = { headers: { ...headers, connection: 'close' } }
    const response = await fetch(`${baseUrl}/v1/orders?limit=1`, options)
    expect(response.status).toBe(200)
    await response.text()
  }
}

/** The request count that the service reports, and the state of its workers. */
async function counted() {
  const exposition = await (await operationsOf(service)('/metrics')).text()
  const labels = 'method="GET",route="/v1/orders",status="200"'
  const ofWorkers = (state: string) => metricIn(exposition, `serving_workers{state="${state}"}`)
  return {
    answers: metricIn(exposition, `http_request_duration_seconds_count{${labels}}`),
    ok: ofWorkers('ok'),
    silent: ofWorkers('silent'),
    missing: ofWorkers('missing'),
    ended: metricIn(exposition, 'serving_workers_ended_total'),
  }
}

async function ready(running: RunningService): Promise<Health & { code: number }> {
  const response = await operationsOf(running)('/health/ready')
  const health = (await response.json()) as Health
  return { code: response.status, ...health }
}

const REQUEST = 'GET /v1/orders HTTP/1.1\r\nHost: local\r\n\r\n'
const HALF = REQUEST.length - 10

/**
 * Sends one and a half requests. The response to the first shows that a worker has the connection.
 */
async function sendHalfARequest({ baseUrl }: RunningService) {
  const socket = await openSocket(Number(new URL(baseUrl).port))
  socket.write(REQUEST + REQUEST.slice(0, HALF))
  await once(socket, 'readable')
  return socket
}

describe('serve with two workers, one after the other,', () => {
  it('two workers share one port, and their metrics are aggregated', async () => {
    await sendRequests(20)
    const answered = () => log(service).filter(({ status }) => status === 200)
    await expect.poll(() => answered().length).toBe(20)
    expect(pidsOf(answered()).sort()).toEqual(workersOf(service).sort())
    expect(workersOf(service)).toHaveLength(2)
    const whole = { answers: 20, ok: 2, silent: 0, missing: 0, ended: 0 }
    await expect.poll(counted).toEqual(whole)
    await expect.poll(() => ready(service)).toMatchObject({ code: 200, checks: { workers: 'ok' } })
  })

  it('waits briefly for a worker that does not respond, and for one that must restart', async () => {
    const stuck = firstWorkerOf(service)
    process.kill(stuck, 'SIGSTOP')
    const lacking = { answers: 20, ok: 1, silent: 1, missing: 0, ended: 0 }
    await expect.poll(counted).toEqual(lacking)
    await expect
      .poll(() => ready(service))
      .toMatchObject({ code: 200, checks: { workers: 'degraded' } })
    expect((await operationsOf(service)('/health/live')).status).toBe(503)
    process.kill(stuck, 'SIGCONT')
    const live = async () => (await operationsOf(service)('/health/live')).status
    await expect.poll(live).toBe(200)
  })

  it('replaces a killed worker, and its counters continue', async () => {
    const killed = firstWorkerOf(service)
    process.kill(killed, 'SIGKILL')
    const seen: number[] = []
    await expect
      .poll(async () => {
        const { answers, ok, ended } = await counted()
        seen.push(answers)
        return { ok, ended }
      })
      .toEqual({ ok: 2, ended: 1 })
    expect(new Set(seen)).toEqual(new Set([20]))
    await sendRequests(4)
    await expect.poll(async () => (await counted()).answers).toBe(24)
    expect(workersOf(service)).toHaveLength(3)
  })

  it('completes requests in flight and exits when the parent process is killed', async () => {
    const socket = await sendHalfARequest(service)
    // The output stays open until the last worker has exited.
    const stopped = service.stop('SIGKILL')
    await new Promise((resolve) => setTimeout(resolve, 300))
    socket.write(REQUEST.slice(HALF))
    expect((await readResponses(socket)).map(({ status }) => status)).toEqual([401, 401])
    await stopped
  })
})

it(
  'serve with two workers loses no request when the whole process group receives SIGTERM',
  RETRY_WHEN_SHED,
  async () => {
    const running = await startService([], env)
    // The first requests are slow, and many at once could be shed on a busy machine.
    await sendRequests(50, running)
    const counts = createCounts()
    let isUp = true
    let last = await ready(running)
    const balancing = (async () => {
      while (isUp) {
        await new Promise((resolve) => setTimeout(resolve, 200))
        last = await ready(running)
        isUp = last.status !== 'draining' // A worker may be late to respond.
      }
      return last.status
    })()
    const url = `${running.baseUrl}/v1/orders?limit=1`
    const clients = Array.from({ length: 20 }, () =>
      sendContinuously({ url, headers, mayConnect: () => isUp, counts }),
    )
    await expect.poll(() => counts.answers[200] ?? 0).toBeGreaterThan(200)

    for (const worker of workersOf(running)) process.kill(worker, 'SIGTERM')
    const stopped = running.stop()
    expect(await balancing).toBe('draining')
    await Promise.all(clients)
    expect(await stopped).toBe(0)
    expectAllSucceeded(counts, running)
    expect(counts.closes).toBeGreaterThanOrEqual(20)
    expect(counts.failures).toEqual([])
  },
)

it('serve with two workers exits immediately at a second signal', async () => {
  const running = await startService([], env)
  const socket = await sendHalfARequest(running)
  // After a readiness request, the workers drain for five seconds.
  await expect.poll(() => ready(running)).toMatchObject({ checks: { workers: 'ok' } })
  const stopped = running.stop('SIGINT')
  await expect.poll(() => log(running).map(({ msg }) => msg)).toContain('closing')
  await new Promise((resolve) => setTimeout(resolve, SECOND_SIGNAL_MS))
  socket.on('error', () => {})
  await running.stop('SIGINT')
  expect(await stopped).toBe(1)
  // Each worker would log that it received a second signal, and drain on.
  expect(log(running).filter(({ msg }) => msg.includes('is gone'))).toEqual([])
  socket.destroy()
})

it('serve with two workers reports a port in use once, and exits 1', async () => {
  const occupied = createServer().listen(0, '127.0.0.1')
  await once(occupied, 'listening')
  const { port } = occupied.address() as AddressInfo
  for (const setting of ['PORT', 'OPERATIONS_PORT']) {
    const ports = { PORT: '0', OPERATIONS_PORT: '0', LOG_LEVEL: 'fatal', [setting]: `${port}` }
    const { code, stderr } = await runProcess(['serve'], { ...env, ...ports })
    expect(code).toBe(1)
    expect(stderr).toBe(
      `cannot listen on 127.0.0.1:${port}: listen EADDRINUSE: address already in use 127.0.0.1:${port}. Set HOST or ${setting}\n`,
    )
  }
  occupied.close()
})

it('serve with two workers reports once why workers cannot start, and exits 1', async () => {
  const redis = { REDIS_URL: 'rediss://127.0.0.1:1', REDIS_CA_FILE: '/nowhere/ca.pem' }
  const broken = { ...env, ...redis, PORT: '0', OPERATIONS_PORT: '0' }
  const together = await runProcess(['serve'], broken)
  expect(together.stderr).toContain('REDIS_CA_FILE: cannot read a PEM certificate')
  expect(together).toEqual(await runCommand(['serve'], { ...broken, WORKERS: '1' }))
  expect(together.code).toBe(1)
})
