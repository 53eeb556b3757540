import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { poll } from '../harness/processes/poll.ts'
import { get, openStack, type Stack, tryGet } from '../support/containers/stack.ts'
import { sourceOrder } from '../support/orders/source-order.ts'

const BUILD_MS = 600_000
const API = 'http://127.0.0.1:3000'
const EDGE = 'https://localhost:8443'
const PROMETHEUS = 'http://127.0.0.1:9090/api/v1'
/** OpenSearch may take a minute to start. */
const OUTAGE_MS = 180_000
const SOON = { timeout: OUTAGE_MS }
/** Several checks of readiness by the edge, which it makes twice a second. */
const READINESS_CHECKS_MS = 2_500
const ACCOUNT = 'acc_compose'
const CONSOLE = { host: 'console.localhost:8443' }
const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

let stack: Stack
let demo: Record<string, string>
let own: Record<string, string>

beforeAll(async () => {
  stack = await openStack()
  await stack.up()
  demo = bearer(await stack.demoKey())
  await expectEdge()
}, BUILD_MS)
afterAll(() => stack[Symbol.asyncDispose](), BUILD_MS)

/** A command of the service, in a container of its own. */
const command = (args: readonly string[], input = '') =>
  stack.compose.attempt(['run', '--rm', '-T', 'api', ...args], { input })
/** Puts a new order into the stream of changes. */
const streamOrder = (id: string) =>
  command(
    ['index', 'load', '-', '--stream'],
    `${JSON.stringify(sourceOrder({ id, owner_account_id: ACCOUNT }))}\n`,
  )
/** Waits until the API, or the edge in front of it, responds with this status. */
const expectStatus = (
  path: string,
  headers: Record<string, string>,
  status: number,
  origin: string = API,
) =>
  poll(
    async () => (await tryGet(`${origin}${path}`, headers)).status === status,
    async () =>
      `${origin}${path} has no status ${status}: ${(await tryGet(`${origin}${path}`, headers)).text}`,
    { timeoutMs: OUTAGE_MS, intervalMs: 200, shouldAbort: () => false },
  )
/** The edge has no health check, so `up` does not wait for it. */
const expectEdge = () => expectStatus('/v1/orders?limit=1', demo, 200, EDGE)
const kill = async (service: string) => stack.docker('kill', await stack.compose.container(service))
const restart = (service: string) => stack.compose('start', service)

describe('docker compose up', () => {
  it.each([API, EDGE])('the printed key reads orders at %s', async (origin) => {
    const { status, text } = await get(`${origin}/v1/orders?limit=2`, demo)
    expect(status).toBe(200)
    expect(JSON.parse(text).data).toHaveLength(2)
  })

  it('the console responds behind the edge, under its own host name only', async () => {
    expect(await get(`${EDGE}/painel`, CONSOLE)).toMatchObject({ status: 200 })
    expect(await get(`${EDGE}/painel`)).toMatchObject({ status: 404 })
  })

  it('only the API and the edge are published, and neither management nor operations', async () => {
    const ids = await stack.list('container')
    const published = await stack.docker(
      'inspect',
      '--format={{json .HostConfig.PortBindings}}',
      ...ids,
    )
    const ports = [...published.matchAll(/"HostPort":"(\d+)"/g)].map(([, port]) => port)
    expect(new Set(ports)).toEqual(new Set(['3000', '8080', '8443']))
  })

  it.each(['api', 'watch', 'webhooks'])('%s runs hardened, with init', async (service) => {
    const format =
      '{{.HostConfig.ReadonlyRootfs}} {{.HostConfig.Init}} {{.HostConfig.CapDrop}} {{.Config.User}}'
    const id = await stack.compose.container(service)
    const settings = await stack.docker('inspect', `--format=${format}`, id)
    expect(settings).toBe('true true [ALL] 1000:1000')
  })
})

describe('a command beside the running services', () => {
  it('creates a key that reads a change which was piped into the stream', async () => {
    const created = await command(['keys', 'create', '--account', ACCOUNT])
    expect(created).toMatchObject({ code: 0, stdout: expect.stringMatching(/^key_live_\w+\s*$/) })
    own = bearer(created.stdout.trim())
    expect(await streamOrder('ord_first')).toMatchObject({ code: 0 })
    await expectStatus('/v1/orders/ord_first', own, 200)
  })

  it.each([
    ['index', 'status'],
    ['webhooks', 'status'],
    ['usage', '--account', ACCOUNT],
  ])('%s %s reports', async (...args) => {
    expect(await command(args)).toMatchObject({ code: 0, stdout: expect.stringMatching(/\w/) })
  })
})

describe('the profile of the monitoring', () => {
  it('Prometheus scrapes every process, and loads the alerts', async () => {
    await stack.compose('--profile', 'monitoring', 'up', '--detach', 'prometheus')
    const targets = async () => {
      const { text } = await tryGet(`${PROMETHEUS}/targets`)
      const active: Target[] = text === '' ? [] : JSON.parse(text).data.activeTargets
      return new Set(active.map(({ labels, health }) => `${labels['job']} ${health}`))
    }
    const all = ['api up', 'watch up', 'webhooks up']
    await expect.poll(targets, SOON).toEqual(new Set(all))
    const { text } = await get(`${PROMETHEUS}/rules`)
    expect(JSON.parse(text).data.groups.length).toBeGreaterThan(0)
  })
})

describe('while OpenSearch is killed', () => {
  let killedAt: number
  beforeAll(async () => {
    killedAt = Date.now()
    await kill('opensearch')
    await expectStatus('/v1/orders?limit=1', demo, 503)
  }, OUTAGE_MS)

  it('the edge forwards the error of the API, also once it knows that the API is not ready', async () => {
    for (let at = 0; at < 10; at++) {
      const { status, text } = await get(`${EDGE}/v1/orders?limit=1`, demo)
      expect({ status, text }).toEqual({ status: 503, text: expect.stringContaining('"error"') })
      await sleep(READINESS_CHECKS_MS / 10)
    }
  })

  it('the watch stays healthy, since its check is of liveness', async () => {
    const id = await stack.compose.container('watch')
    const checkSince = async () => {
      const text = await stack.docker('inspect', '--format={{json .State.Health}}', id)
      const { Status, Log }: Health = JSON.parse(text)
      return { Status, last: Log.findLast(({ Start }) => Date.parse(Start) > killedAt) }
    }
    const healthy = { Status: 'healthy', last: { ExitCode: 0 } }
    await expect.poll(checkSince, SOON).toMatchObject(healthy)
  })

  it('orders and keys are back with it, without a restart of the service', async () => {
    await restart('opensearch')
    await expectStatus('/v1/orders?limit=1', demo, 200)
    await expectStatus('/v1/orders/ord_first', own, 200)
  })
})

describe('a Redis that is killed', () => {
  it('the API serves without Redis, and uses it again', async () => {
    await kill('redis')
    await expectStatus('/v1/orders?limit=1', demo, 200)
    await expect.poll(limits, SOON).toBe('degraded')
    await restart('redis')
    await expect.poll(limits, SOON).toBe('ok')
  })

  it('the stream keeps working after a kill', async () => {
    await kill('stream')
    await restart('stream')
    expect(await streamOrder('ord_second')).toMatchObject({ code: 0 })
    await expectStatus('/v1/orders/ord_second', own, 200)
  })
})

describe('docker compose down', () => {
  it('stops each service of ours by itself, and keeps orders and keys for the next up', async () => {
    await stack.compose('stop', 'api', 'watch', 'webhooks')
    for (const service of ['api', 'watch', 'webhooks']) {
      const id = await stack.compose.container(service)
      const ended = '{{.State.ExitCode}} {{.State.OOMKilled}}'
      expect(await stack.docker('inspect', `--format=${ended}`, id)).toBe('0 false')
    }
    await stack.compose('--profile', 'monitoring', 'down')
    expect(await stack.list('container')).toEqual([])
    expect(await stack.list('network')).toEqual([])
    await stack.up()
    await expectStatus('/v1/orders/ord_second', own, 200)
    await expectEdge()
  })

  it('removes the data with --volumes', async () => {
    expect(await stack.list('volume')).not.toEqual([])
    await stack.compose('--profile', 'monitoring', 'down', '--volumes')
    expect(await stack.list('volume')).toEqual([])
  })
})

/** As Docker returns it. */
interface Health {
  Status: string
  Log: { Start: string; ExitCode: number }[]
}

interface Target {
  labels: Record<string, string>
  health: string
}

/** How the API counts rate limits, from its readiness check. */
async function limits(): Promise<string | undefined> {
  const script =
    "fetch('http://127.0.0.1:3001/health/ready').then((r) => r.json()).then((it) => console.log(JSON.stringify(it)))"
  const id = await stack.compose.container('api')
  const { stdout } = await stack.docker.attempt(['exec', id, 'node', '-e', script])
  return JSON.parse(stdout || '{}').checks?.limits
}
