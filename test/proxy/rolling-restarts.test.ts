import { afterEach, beforeEach, expect, it } from 'vitest'
import { type ProxyUnderTest, startProxy } from '../support/http/proxy.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { openServedStore, type Served, type ServedStore } from '../support/stores/served-store.ts'
import { startLoad } from './steady-load.ts'

/** On a busy machine, one address sends more than the limit before the restarts are over. */
const ROOMY_EDGE = { EDGE_VOLUME_REQUESTS: '1000000' }

let store: ServedStore
let key: string
let edge: ProxyUnderTest | undefined
beforeEach(async () => {
  store = openServedStore()
  key = await store.createKey('acc_1')
  await store.load(Array.from({ length: 20 }, (_, n) => sourceOrder({ id: `ord_${n}` })))
})
afterEach(async () => {
  await edge?.stop()
  await store.close()
})

/** A successor on the ports of an exited process. */
const succeed = ({ port, operationsPort }: Served) =>
  store.serve({ PORT: `${port}`, OPERATIONS_PORT: `${operationsPort}` })

/** The status of a process's readiness check, in HTTP and in its body. */
async function readinessOf({ operationsPort }: Served) {
  const response = await fetch(`http://127.0.0.1:${operationsPort}/health/ready`)
  const { status } = (await response.json()) as { status?: unknown }
  return [response.status, status]
}

it('a killed process causes only 502 and 503 of the edge until its successor is detected', async () => {
  const killed = await store.serve()
  edge = await startProxy([killed])
  const load = startLoad(edge, key)
  await expect.poll(() => load.answers.length).toBeGreaterThan(50)

  await killed.stop('SIGKILL')
  await expect.poll(() => load.answers.at(-1)?.status).toBe(503)
  await succeed(killed)
  const listeningMs = performance.now()
  const seen = load.answers.length
  const isBack = () => load.answers.slice(seen).some(({ status }) => status === 200)
  await expect.poll(isBack, { interval: 5 }).toBe(true)
  console.log(`back after ${Math.round(performance.now() - listeningMs)} ms`)

  const [right] = load.answers
  for (const { status, body } of await load.stop()) {
    if (status === 200) expect(body).toBe(right?.body)
    else expect([status, body]).toEqual([expect.toBeOneOf([502, 503]), ''])
  }
})

it('a rolling restart of two processes fails no request', async () => {
  const processes = [await store.serve(), await store.serve()]
  edge = await startProxy(processes, ROOMY_EDGE)
  const load = startLoad(edge, key)
  await expect.poll(() => load.answers.length).toBeGreaterThan(50)

  for (const [index, old] of processes.entries()) {
    const server = `Server api/api${index + 1}`
    const stopped = old.stop('SIGTERM')
    await expect.poll(() => readinessOf(old)).toEqual([503, 'draining'])
    expect(await stopped).toBe(0)
    // The edge stopped sending requests to it before it exited. On a busy machine, its check of
    // this 503 may time out.
    const reason = 'reason: Layer7 (wrong status, code: 503|timeout)'
    expect(await edge.log()).toMatch(new RegExp(`${server} is DOWN, ${reason}`))
    await succeed(old)
    await expect.poll(() => edge?.log()).toContain(`${server} is UP`)
  }

  const answers = await load.stop()
  expect(answers.filter(({ status }) => status !== 200).slice(0, 3)).toEqual([])
  expect(new Set(answers.map(({ body }) => body)).size).toBe(1)
})
