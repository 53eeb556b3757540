import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generateApiKey } from '../../src/auth/api-key.ts'
import { type RunningService, runCommand, startService } from '../support/cli/command.ts'
import { type Backend, createBackend } from '../support/stores/backend.ts'

const MAX_TRIES = 10

let backend: Backend
let services: RunningService[]
/** The addresses of their operations endpoints. */
let operations: string[]
beforeAll(async () => {
  backend = createBackend()
  expect((await runCommand(['index', 'init'], backend.env)).code).toBe(0)
  const env = { ...backend.env, TRUST_PROXY: '127.0.0.1' }
  services = await Promise.all([1, 2].map(() => startService([], env)))
  operations = services.map(
    ({ output }) => /operations at (http:[^"]+)/.exec(output().stderr)?.[1] ?? '',
  )
})
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()))
  await backend.remove()
})

async function createKey(account: string): Promise<string> {
  const args = ['keys', 'create', '--account', account]
  return (await runCommand(args, backend.env)).stdout.trim()
}

/** The statuses of concurrent requests of one client that alternate between two processes. */
async function burst(
  count: number,
  client: string,
  keyOf: () => string,
): Promise<Record<number, number>> {
  const answers = await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const { baseUrl } = services[n % services.length] as RunningService
      const headers = { authorization: `Bearer ${keyOf()}`, 'x-forwarded-for': client }
      const response = await fetch(`${baseUrl}/v1/orders?limit=1`, { headers })
      await response.arrayBuffer()
      return response.status
    }),
  )
  const counts: Record<number, number> = {}
  for (const status of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** Waits until no process limits by itself. */
async function limitsAreShared(): Promise<void> {
  const healths = () =>
    Promise.all(operations.map(async (url) => (await fetch(`${url}/health/ready`)).json()))
  const shared = { checks: { limits: 'ok' } }
  await expect.poll(healths, { timeout: 60_000 }).toMatchObject([shared, shared])
}

/** The decisions that the processes made without Redis so far. */
async function localDecisions(): Promise<number> {
  const metrics = await Promise.all(
    operations.map(async (url) => (await fetch(`${url}/metrics`)).text()),
  )
  const series = /^limiter_degraded_decisions_total\{.+\} (\d+)$/gm
  const counts = [...metrics.join('\n').matchAll(series)].map(([, count]) => Number(count))
  expect(counts.length).toBeGreaterThan(0)
  return counts.reduce((sum, count) => sum + count, 0)
}

/**
 * The result of the first try that Redis alone decided. Each try needs a name and an address that
 * no other had: on a busy machine, Redis may respond too late, and the processes decide locally.
 */
async function decidedInRedis<T>(run: (account: string, client: string) => Promise<T>): Promise<T> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    unused += 1
    await limitsAreShared()
    const before = await localDecisions()
    const result = await run(`acc_${unused}`, `192.0.2.${unused}`)
    if ((await localDecisions()) === before) return result
  }
  throw new Error(`none of ${MAX_TRIES} bursts was decided in Redis alone`)
}
let unused = 0

describe('two processes on the same services', () => {
  it('two processes share one bucket: 20 of 200 requests pass, plus the refill', async () => {
    const { counts, refilled } = await decidedInRedis(async (account, client) => {
      const key = await createKey(account)
      const startedAt = performance.now()
      const counts = await burst(200, client, () => key)
      return { counts, refilled: Math.ceil((performance.now() - startedAt) / 100) }
    })
    const { 200: passed = 0, 429: limited = 0 } = counts

    expect(passed + limited).toBe(200)
    expect(passed).toBeGreaterThanOrEqual(20)
    expect(passed).toBeLessThanOrEqual(20 + refilled)
  })

  it('two processes count authentication failures together: 30 of 200 bad keys get 401', async () => {
    const counts = await decidedInRedis((_, client) => burst(200, client, generateApiKey))
    expect(counts).toEqual({ 401: 30, 429: 170 })
  })

  it('two processes decide every request of a burst in Redis and none locally', async () => {
    const counts = await decidedInRedis(async (account, client) => {
      const key = await createKey(account)
      return burst(20, client, () => key)
    })
    expect(counts).toEqual({ 200: 20 })
  })
})
