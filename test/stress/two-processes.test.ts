import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generateApiKey } from '../../src/auth/api-key.ts'
import { type RunningService, runCommand, startService } from '../support/cli/command.ts'
import { type Backend, createBackend } from '../support/stores/backend.ts'

let backend: Backend
let services: RunningService[]
beforeAll(async () => {
  backend = createBackend()
  expect((await runCommand(['index', 'init'], backend.env)).code).toBe(0)
  services = await Promise.all([1, 2].map(() => startService([], backend.env)))
})
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()))
  await backend.remove()
})

async function createKey(account: string): Promise<string> {
  const args = ['keys', 'create', '--account', account]
  return (await runCommand(args, backend.env)).stdout.trim()
}

/** The statuses of concurrent requests that alternate between two processes. */
async function burst(count: number, keyOf: () => string): Promise<Record<number, number>> {
  const answers = await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const { baseUrl } = services[n % services.length] as RunningService
      const headers = { authorization: `Bearer ${keyOf()}` }
      const response = await fetch(`${baseUrl}/v1/orders?limit=1`, { headers })
      await response.arrayBuffer()
      return response.status
    }),
  )
  const counts: Record<number, number> = {}
  for (const status of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

describe('two processes on the same services', () => {
  it('two processes share one bucket: 20 of 200 requests pass, plus the refill', async () => {
    const key = await createKey('acc_burst')
    const startedAt = performance.now()
    const { 200: passed = 0, 429: limited = 0 } = await burst(200, () => key)
    const refilled = Math.ceil((performance.now() - startedAt) / 100)

    expect(passed + limited).toBe(200)
    expect(passed).toBeGreaterThanOrEqual(20)
    expect(passed).toBeLessThanOrEqual(20 + refilled)
  })

  it('two processes count authentication failures together: 30 of 200 bad keys get 401', async () => {
    expect(await burst(200, generateApiKey)).toEqual({ 401: 30, 429: 170 })
  })

  it('two processes decide every request in Redis and none locally', async () => {
    for (const { output } of services)
      expect(output().stderr).not.toContain('rate limits are local')
  })
})
