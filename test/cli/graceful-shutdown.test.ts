import { afterEach, beforeEach, expect, it } from 'vitest'
import { type RunningService, runCommand, startService } from '../support/cli/command.ts'
import {
  createCounts,
  expectAllSucceeded,
  RETRY_WHEN_SHED,
  sendContinuously,
} from '../support/http/keep-alive-client.ts'
import { ROOMY } from '../support/http/test-app.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { type Backend, createBackend } from '../support/stores/backend.ts'

let backend: Backend
let service: RunningService
let headers: { authorization: string }
beforeEach(async () => {
  backend = createBackend()
  await runCommand(['index', 'load', '-'], backend.env, JSON.stringify(sourceOrder()))
  const created = await runCommand(['keys', 'create', '--account', 'acc_1'], backend.env)
  headers = { authorization: `Bearer ${created.stdout.trim()}` }
  service = await startService([], { ...backend.env, ...ROOMY })
})
afterEach(async () => {
  await service.stop()
  await backend.remove()
})

async function isReady(): Promise<boolean> {
  const operations = /operations at (http:[^"]+)/.exec(service.output().stderr)?.[1]
  return (await fetch(`${operations}/health/ready`)).status === 200
}

it(
  'graceful shutdown fails no request of many clients behind a load balancer, and exits 0',
  RETRY_WHEN_SHED,
  async () => {
    const counts = createCounts()
    let isUp = true
    const balancing = (async () => {
      while (isUp) {
        await new Promise((resolve) => setTimeout(resolve, 200))
        isUp = await isReady()
      }
    })()
    const client = { url: `${service.baseUrl}/v1/orders`, headers, mayConnect: () => isUp, counts }
    const clients = Array.from({ length: 30 }, () => sendContinuously(client))
    await expect.poll(() => counts.answers[200] ?? 0).toBeGreaterThan(300)
    const before = counts.closes

    const stopped = service.stop()
    await balancing
    await Promise.all(clients)
    expect(await stopped).toBe(0)
    expectAllSucceeded(counts, service)
    expect(before).toBe(0)
    expect(counts.closes).toBeGreaterThanOrEqual(30)
    expect(counts.failures).toEqual([])
  },
)
