import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type RunningService, runCommand, startService } from '../../support/cli/command.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { type Backend, createBackend } from '../../support/stores/backend.ts'

/** One response each with 200, 400 and 404. */
const PATHS = ['/v1/orders', '/v1/orders?limit=0', '/v1/orders/ord_missing'] as const
const each = (times: number) => ({ 200: times, 400: times, 404: times })
/** A flush happens within 10 s; a busy machine is slower. */
const POLL_TIMEOUT = { timeout: 60_000, interval: 500 }

let backend: Backend
let env: Record<string, string>
beforeAll(async () => {
  backend = createBackend()
  env = {
    // Without Redis, each process of the embedded service counts its rate limits locally.
    REDIS_URL: 'redis://127.0.0.1:1',
    ...backend.env,
    RATE_LIMIT_CAPACITY: '100000',
    RATE_LIMIT_REFILL_PER_SECOND: '100000',
  }
  await runCommand(['index', 'load', '-'], backend.env, `${JSON.stringify(sourceOrder())}\n`)
})
afterAll(() => backend.remove())

const running: RunningService[] = []
afterEach(async () => {
  for (const service of running.splice(0)) await service.stop('SIGKILL')
})

async function start(settings: Record<string, string> = {}): Promise<RunningService> {
  const service = await startService([], { ...env, ...settings })
  running.push(service)
  return service
}

async function createKey(accountId: string): Promise<{ key: string; key_id: string }> {
  const args = ['keys', 'create', '--account', accountId, '--json']
  return JSON.parse((await runCommand(args, backend.env)).stdout)
}

/** Sends this many rounds of requests over many connections; returns the number by status. */
async function send({ baseUrl }: RunningService, key: string, rounds: number) {
  const byStatus: Record<string, number> = {}
  for (let round = 0; round < rounds; round += 1) {
    const headers = { authorization: `Bearer ${key}`, connection: 'close' }
    const answers = await Promise.all(PATHS.map((path) => fetch(`${baseUrl}${path}`, { headers })))
    for (const answer of answers) {
      await answer.text()
      byStatus[answer.status] = (byStatus[answer.status] ?? 0) + 1
    }
  }
  return byStatus
}

interface Row {
  day: string
  key_id: string
  requests: number
  by_status: Record<string, number>
  rate_limited: number
}

/** The rows of the report: one for each key, unless midnight passes. */
async function report(accountId: string): Promise<Row[]> {
  const { stdout } = await runCommand(['usage', '--account', accountId, '--json'], backend.env)
  return JSON.parse(stdout).data
}

/** The totals of the report. */
async function counted(accountId: string): Promise<Record<string, number>> {
  const byStatus: Record<string, number> = {}
  for (const row of await report(accountId)) {
    for (const [status, count] of Object.entries(row.by_status)) {
      byStatus[status] = (byStatus[status] ?? 0) + count
    }
  }
  return byStatus
}

describe('the usage of a key', () => {
  it('is what was sent to three processes, with a shutdown and a restart in between', async () => {
    const { key, key_id } = await createKey('acc_exact')
    const first = await Promise.all([start({ WORKERS: '2' }), start()])
    const sent = await Promise.all(first.map((service) => send(service, key, 20)))
    await Promise.all(first.map((service) => service.stop('SIGTERM')))
    expect(sent).toEqual([each(20), each(20)])
    expect(await counted('acc_exact')).toEqual(each(40))

    const again = await start()
    await send(again, key, 5)
    await again.stop('SIGTERM')
    expect(await counted('acc_exact')).toEqual(each(45))
    const rows = await report('acc_exact')
    expect(new Set(rows.map((row) => row.key_id))).toEqual(new Set([key_id]))
  })

  it('survives a kill once it was flushed, and is not counted twice', async () => {
    const { key } = await createKey('acc_killed')
    const killed = await start()
    await send(killed, key, 4)
    await expect.poll(() => counted('acc_killed'), POLL_TIMEOUT).toEqual(each(4))
    await killed.stop('SIGKILL')

    const next = await start()
    await send(next, key, 1)
    await next.stop('SIGTERM')
    expect(await counted('acc_killed')).toEqual(each(5))
  })

  it('is shown as the last use by keys list', async () => {
    const { key } = await createKey('acc_used')
    const service = await start()
    await send(service, key, 1)
    const startedAt = Date.now()
    await send(service, key, 1)
    await service.stop('SIGTERM')
    const args = ['keys', 'list', '--account', 'acc_used', '--json']
    const [listed] = JSON.parse((await runCommand(args, backend.env)).stdout)
    expect(Date.parse(listed.last_valid_at)).toBeGreaterThanOrEqual(startedAt)
  })
})

describe('the usage command', () => {
  it('prints a table, and reports an account without usage', async () => {
    const table = await runCommand(['usage', '--account', 'acc_exact'], backend.env)
    expect(table.stdout).toMatch(/day +key_id +requests +rate_limited +by_status/)
    expect(table.stdout).toContain('200:45,400:45,404:45')
    const none = await runCommand(['usage', '--account', 'acc_none'], backend.env)
    expect(none).toEqual({ code: 0, stdout: '', stderr: 'none\n' })
  })

  it('reports the days of the range', async () => {
    const args = ['usage', '--account', 'acc_exact', '--from', '2020-01-01', '--to', '2020-12-31']
    const { stdout } = await runCommand([...args, '--json'], backend.env)
    expect(JSON.parse(stdout)).toEqual({ object: 'usage', data: [] })
  })

  it.each([
    ['no account', []],
    ['a day that does not exist', ['--account', 'a', '--from', '2026-02-30']],
    ['a reversed range', ['--account', 'a', '--from', '2026-02-02', '--to', '2026-02-01']],
  ])('exits 2 with %s', async (_what, args) => {
    const { code, stdout, stderr } = await runCommand(['usage', ...args], backend.env)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/error: /)
  })
})
