import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createLoadClient,
  type LoadClient,
  type LoadRequest,
} from '../../../../scripts/bench/measuring/load.ts'
import { atPace } from '../../../../scripts/bench/measuring/pace.ts'

const BODY = 'x'.repeat(100)
const { signal } = new AbortController()
const server = createServer((_request, response) => response.writeHead(401).end(BODY))
let target: { origins: string[] }
let client: LoadClient
const request: LoadRequest = { method: 'GET', path: '/', headers: {}, expectedBytes: BODY.length }
const expected: LoadRequest = { ...request, expectedStatus: 401 }

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  target = { origins: [`http://127.0.0.1:${(server.address() as AddressInfo).port}`] }
  client = createLoadClient(target, 2)
})
afterAll(async () => {
  await client[Symbol.asyncDispose]()
  server.close()
})

/** Blocks this process. */
function stall(ms: number): void {
  const endsAt = performance.now() + ms
  while (performance.now() < endsAt) {}
}

describe('closed loop', () => {
  const failuresOf = async (sent: LoadRequest) => {
    const outcomes = await client.loop([sent], 20, signal)
    expect(outcomes.length).toBeGreaterThan(0)
    return [...new Set(outcomes.map(({ failure }) => failure))]
  }

  it('An expected 401 is no failure', async () => {
    expect(await client.fetch(expected)).toEqual(Buffer.from(BODY))
    expect(await failuresOf(expected)).toEqual([undefined])
  })

  it('A request expects status 200 by default', async () => {
    await expect(client.fetch(request)).rejects.toThrow('/ returned status 401')
    expect(await failuresOf(request)).toEqual(['status 401'])
  })

  it('A response of another length is a failure', async () => {
    const longer = { ...expected, expectedBytes: 2 * BODY.length }
    expect(await failuresOf(longer)).toEqual(['unexpected response length'])
  })
})

describe('open loop', () => {
  it('The latency of a request counts from when it was due, even when this process stalled', async () => {
    await using callers = createLoadClient(target)
    const running = callers.arrive([expected], { rate: 100, seconds: 0.2, signal })
    stall(300)
    const outcomes = (await running).toSorted((a, b) => a.dueAt - b.dueAt)
    expect(outcomes).toHaveLength(20)
    expect(outcomes.filter(({ failure }) => failure !== undefined)).toEqual([])
    for (const { dueAt, sentAt, ms } of outcomes) {
      expect(sentAt).toBeGreaterThanOrEqual(dueAt)
      expect(ms).toBeGreaterThan(sentAt - dueAt)
    }
    const [first = { dueAt: 0, sentAt: 0 }] = outcomes
    expect(first.sentAt - first.dueAt).toBeGreaterThan(150)
  })
})

describe('pace', () => {
  it('The pace makes exactly as many sends due as rate and seconds say, evenly and never early', async () => {
    const all: number[] = []
    const early: number[] = []
    await atPace({ rate: 200, seconds: 0.13, signal }, async (due) => {
      if (all.length === 0) stall(30)
      all.push(...due)
      early.push(...due.filter((instant) => instant > performance.now()))
    })
    const first = all[0] ?? Number.NaN
    expect(all).toHaveLength(26)
    for (const [at, instant] of all.entries()) expect(instant).toBeCloseTo(first + 5 * at)
    expect(early).toEqual([])
  })

  it('The pace does not wait for earlier sends', async () => {
    const last = Promise.withResolvers<void>()
    let sent = 0
    await atPace({ rate: 200, seconds: 0.1, signal }, async (due) => {
      sent += due.length
      if (sent === 20) last.resolve()
      await last.promise
    })
    expect(sent).toBe(20)
  })

  it('The pace rejects with the error of a send, or when its signal aborts', async () => {
    const fail = async () => {
      throw new Error('no stream')
    }
    await expect(atPace({ rate: 1_000, seconds: 60, signal }, fail)).rejects.toThrow('no stream')
    const aborted = AbortSignal.abort(new Error('interrupted'))
    const sending = atPace({ rate: 1_000, seconds: 60, signal: aborted }, async () => {})
    await expect(sending).rejects.toThrow('interrupted')
  })
})
