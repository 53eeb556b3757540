import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RunningService, runCommand, startService } from '../../support/cli/command.ts'
import { createCounts, sendContinuously } from '../../support/http/keep-alive-client.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { type Backend, createBackend } from '../../support/stores/backend.ts'

let backend: Backend
let service: RunningService
let operations: string
let client: { url: string; headers: { authorization: string } }
beforeAll(async () => {
  backend = createBackend()
  await runCommand(['index', 'load', '-'], backend.env, `${JSON.stringify(sourceOrder())}\n`)
  const created = await runCommand(['keys', 'create', '--account', 'acc_1'], backend.env)
  service = await startService([], {
    ...backend.env,
    RATE_LIMIT_CAPACITY: '100000',
    RATE_LIMIT_REFILL_PER_SECOND: '100000',
    MAX_CONCURRENT_REQUESTS: '2',
  })
  operations = /operations at (http:[^"]+)/.exec(service.output().stderr)?.[1] ?? ''
  const headers = { authorization: `Bearer ${created.stdout.trim()}` }
  client = { url: `${service.baseUrl}/v1/orders`, headers }
})
afterAll(async () => {
  await service.stop('SIGKILL')
  await backend.remove()
})

it('serve sheds excess requests under overload and serves all clients afterwards', async () => {
  const counts = createCounts()
  let mayConnect = true
  const flood = Array.from({ length: 60 }, () =>
    sendContinuously({
      ...client,
      mayConnect: () => mayConnect,
      mayContinue: () => mayConnect,
      counts,
    }),
  )
  const health: number[] = []
  await expect
    .poll(async () => {
      health.push((await fetch(`${operations}/health/ready`)).status)
      return Math.min(counts.answers[200] ?? 0, counts.answers[503] ?? 0)
    })
    .toBeGreaterThan(100)
  mayConnect = false
  await Promise.all(flood)

  expect(Object.keys(counts.answers)).toEqual(['200', '503'])
  expect(counts.failures).toEqual([])
  expect(new Set(health)).toEqual(new Set([200]))
  for (let sent = 0; sent < 20; sent++) {
    expect((await fetch(client.url, { headers: client.headers })).status).toBe(200)
  }
})

it('serve reports shed requests in its metrics and in a throttled log line', async () => {
  const metrics = await (await fetch(`${operations}/metrics`)).text()
  const shed = /^http_shed_requests_total\{reason="concurrency"\} (\d+)$/m.exec(metrics)?.[1]
  expect(Number(shed)).toBeGreaterThan(100)
  const lines = service
    .output()
    .stderr.split('\n')
    .filter((line) => line.includes('overloaded'))
  expect(lines.length).toBeGreaterThanOrEqual(1)
  expect(lines.length).toBeLessThan(20)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 40, shed: { concurrency: 1 } })
})
