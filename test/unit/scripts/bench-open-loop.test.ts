import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Arrival, createOpenLoop } from '../../../scripts/bench/measuring/open-loop.ts'

const STALL_MS = 300
const signal = new AbortController().signal
const request = { method: 'GET', path: '/', headers: {}, expectedBytes: 2 } as const
let servedAt: number[] = []
const server = createServer((_, response) => {
  servedAt.push(performance.now())
  response.end('ok')
})

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
beforeEach(() => {
  servedAt = []
})
afterAll(() => {
  server.close()
})

async function arriveAt(rate: number, seconds: number): Promise<Arrival[]> {
  const { port } = server.address() as AddressInfo
  const loop = createOpenLoop({ origins: [`http://127.0.0.1:${port}`] })
  try {
    return await loop.run([request], { rate, seconds, signal })
  } finally {
    await loop.close()
  }
}

describe('requests that arrive at a rate', () => {
  it('are as many as the rate makes, and answered', async () => {
    const arrivals = await arriveAt(100, 0.2)
    expect(arrivals).toHaveLength(20)
    expect(arrivals.filter(({ failure }) => failure !== undefined)).toEqual([])
  })

  it('take as long as from when they were due until they are answered, however late they were sent', async () => {
    const arriving = arriveAt(100, 0.2)
    const stalledAt = performance.now()
    while (performance.now() < stalledAt + STALL_MS) {}
    const arrivals = await arriving
    const [first = { dueAt: 0, sentAt: 0, ms: 0 }] = arrivals.toSorted((a, b) => a.dueAt - b.dueAt)
    expect(first.sentAt - first.dueAt).toBeGreaterThan(STALL_MS / 2)
    expect(first.dueAt + first.ms).toBeGreaterThan(Math.min(...servedAt))
    for (const { dueAt, sentAt } of arrivals) expect(sentAt).toBeGreaterThanOrEqual(dueAt)
  })
})
