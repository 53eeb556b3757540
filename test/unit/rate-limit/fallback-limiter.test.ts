import { stat } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  createFallbackLimiter,
  type FallbackLimiter,
} from '../../../src/rate-limit/fallback-limiter.ts'
import type { BucketDecision } from '../../../src/rate-limit/gcra.ts'
import type { Limiter, LimiterDecision } from '../../../src/rate-limit/limiter.ts'
import { holdTime, pass } from './held-time.ts'

const decisionWith = (remaining: number): BucketDecision => ({
  allowed: true,
  remaining,
  resetSeconds: 1,
  retryAfterSeconds: 0,
})
const FROM_SHARED = decisionWith(1)
const FROM_LOCAL = decisionWith(2)
const DEADLINE_MS = 50
const PROBE_EVERY_MS = 200

interface Scripted {
  limiter: Limiter
  /** Behaviour of every call. */
  answer(): Promise<BucketDecision>
  /** Keys of all calls, and of the `take` calls alone. */
  calls: string[]
  taken: string[]
  /** Fails in any case. */
  failing: string | undefined
}

function scripted(answer: () => Promise<BucketDecision>): Scripted {
  function call(name: string) {
    one.calls.push(name)
    return name === one.failing ? fails() : one.answer()
  }
  function take(accountId: string) {
    one.taken.push(accountId)
    return call(accountId)
  }
  async function secondsLeft(name: string) {
    return (await call(name)).remaining
  }
  const one: Scripted = {
    calls: [],
    taken: [],
    failing: undefined,
    answer,
    limiter: { take, blockedSeconds: secondsLeft, countFailure: secondsLeft },
  }
  return one
}

const answers = async () => FROM_SHARED
const fails = () => Promise.reject(new Error('connection lost'))
const throws = () => {
  throw new Error('not even a promise')
}
const hangs = () => new Promise<never>(() => {})
const answersAfter = (ms: number) => () =>
  new Promise<BucketDecision>((resolve) => setTimeout(resolve, ms, FROM_SHARED))
const failsAfter = (ms: number) => () =>
  new Promise<never>((_resolve, reject) => setTimeout(reject, ms, new Error('late')))

let shared: Scripted
let local: Scripted
let limiter: FallbackLimiter
let counted: LimiterDecision[]
let observed: string[]
let states: [degraded: boolean, cause: unknown][]
let reconnects: number

beforeEach(() => {
  shared = scripted(answers)
  local = scripted(async () => FROM_LOCAL)
  counted = []
  observed = []
  states = []
  reconnects = 0
  limiter = createFallbackLimiter({
    shared: shared.limiter,
    local: local.limiter,
    deadlineMs: DEADLINE_MS,
    probeIntervalMs: PROBE_EVERY_MS,
    onFallbackDecision: (decision) => counted.push(decision),
    instrument: async (decision, call) => {
      const failed = () => observed.push(`${decision} failed`)
      const answer = call()
      answer.then(() => observed.push(`${decision} ok`), failed)
      return answer
    },
    onDegraded: (error) => states.push([true, error]),
    onRecovered: () => states.push([false, undefined]),
    reconnect: () => {
      reconnects += 1
    },
  })
})
afterEach(() => {
  limiter.close()
  vi.useRealTimers()
})

describe('a shared limiter that responds', () => {
  it('the shared limiter decides alone while it responds, and no fallback decision is counted', async () => {
    expect(await limiter.take('acc_1')).toBe(FROM_SHARED)
    expect(await limiter.blockedSeconds('1.2.3.4')).toBe(FROM_SHARED.remaining)
    expect(await limiter.countFailure('1.2.3.4')).toBe(FROM_SHARED.remaining)
    expect([local.calls, counted, states]).toEqual([[], [], []])
  })

  it('the instrument observes each decision of the shared limiter', async () => {
    await limiter.take('acc_1')
    await limiter.blockedSeconds('1.2.3.4')
    await limiter.countFailure('1.2.3.4')
    expect(observed).toEqual(['take ok', 'blocked ok', 'count_failure ok'])
  })

  it('the shared limiter may respond until the deadline', async () => {
    holdTime()
    shared.answer = answersAfter(DEADLINE_MS - 1)
    const decision = limiter.take('acc_1')
    await pass(DEADLINE_MS - 1)
    expect(await decision).toBe(FROM_SHARED)
    expect(states).toEqual([])
  })

  it('a reply that arrives while the event loop is busy counts as in time', async () => {
    const hurried = createFallbackLimiter({
      shared: scripted(async () => {
        await stat('.')
        return FROM_SHARED
      }).limiter,
      local: local.limiter,
      deadlineMs: 10,
      onFallbackDecision: (decision) => counted.push(decision),
    })
    const decision = hurried.take('acc_1')
    const busyUntil = performance.now() + 200
    while (performance.now() < busyUntil);
    expect(await decision).toBe(FROM_SHARED)
    expect(counted).toEqual([])
    hurried.close()
  })
})

describe('a shared limiter that does not respond in time', () => {
  it('the local limiter decides at the deadline', async () => {
    holdTime()
    shared.answer = hangs
    const decision = limiter.take('acc_1')
    await pass(DEADLINE_MS - 1)
    expect(local.calls).toEqual([])
    await pass(1)
    expect(await decision).toBe(FROM_LOCAL)
    expect(local.calls).toEqual(['acc_1'])
  })

  it.each([
    ['fails', fails],
    ['throws', throws],
  ])('the local limiter decides immediately if the shared one %s', async (_how, answer) => {
    holdTime()
    shared.answer = answer
    expect(await limiter.take('acc_1')).toBe(FROM_LOCAL)
  })

  it('each fallback decision is counted by name', async () => {
    shared.answer = fails
    await limiter.take('acc_1')
    await limiter.blockedSeconds('1.2.3.4')
    await limiter.countFailure('1.2.3.4')
    await limiter.take('acc_2')
    expect(counted).toEqual(['take', 'blocked', 'count_failure', 'take'])
  })

  it('the instrument observes a failure at the deadline, and no later call', async () => {
    holdTime()
    shared.answer = hangs
    const decision = limiter.take('acc_1')
    await pass(DEADLINE_MS)
    await decision
    await limiter.take('acc_2')
    await pass(3 * PROBE_EVERY_MS)
    expect(observed).toEqual(['take failed'])
  })

  it('only calls in flight wait: later calls are decided locally at once', async () => {
    holdTime()
    shared.answer = hangs
    const pending = Promise.all([limiter.take('acc_1'), limiter.take('acc_2')])
    await pass(DEADLINE_MS)
    await pending
    expect(await limiter.take('acc_3')).toBe(FROM_LOCAL)
    expect(shared.calls).toEqual(['acc_1', 'acc_2'])
  })

  it('the state change is reported once, with its cause', async () => {
    shared.answer = fails
    await Promise.all([limiter.take('acc_1'), limiter.take('acc_2'), limiter.take('acc_3')])
    expect(states).toEqual([[true, new Error('connection lost')]])
  })

  it.each([
    ['a response', answersAfter],
    ['a failure', failsAfter],
  ])('%s after the deadline is discarded', async (_what, late) => {
    holdTime()
    shared.answer = late(DEADLINE_MS + 1)
    const decision = limiter.take('acc_1')
    await pass(DEADLINE_MS + 1)
    expect(await decision).toBe(FROM_LOCAL)
    expect(counted).toEqual(['take'])
  })
})

describe('a probe', () => {
  async function degrade() {
    holdTime()
    shared.answer = fails
    await limiter.take('acc_1')
    shared.calls.length = 0
    shared.taken.length = 0
  }

  it('queries the shared limiter at intervals with a reserved key', async () => {
    await degrade()
    await pass(PROBE_EVERY_MS - 1)
    expect(shared.taken).toEqual([])
    await pass(1)
    await pass(PROBE_EVERY_MS)
    const [probe = '', ...others] = shared.taken
    expect(probe).not.toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    expect(others).toEqual([probe])
  })

  it('a probe that succeeds restores the shared limiter', async () => {
    await degrade()
    shared.answer = answers
    await pass(PROBE_EVERY_MS)
    expect(await limiter.take('acc_1')).toBe(FROM_SHARED)
    expect(states.map(([degraded]) => degraded)).toEqual([true, false])
    const calls = shared.calls.length
    await pass(10 * PROBE_EVERY_MS)
    expect(shared.calls).toHaveLength(calls)
  })

  it('a probe that is late does not restore the shared limiter', async () => {
    await degrade()
    shared.answer = answersAfter(DEADLINE_MS + 1)
    await pass(PROBE_EVERY_MS + DEADLINE_MS + 1)
    expect(await limiter.take('acc_1')).toBe(FROM_LOCAL)
  })

  it('delays no decision', async () => {
    await degrade()
    shared.answer = hangs
    await pass(PROBE_EVERY_MS)
    expect(await limiter.take('acc_1')).toBe(FROM_LOCAL)
  })

  it('a probe does not count as a decision', async () => {
    await degrade()
    await pass(5 * PROBE_EVERY_MS)
    expect(counted).toEqual(['take'])
  })

  it('stops when the limiter is closed, even while in flight', async () => {
    await degrade()
    shared.answer = hangs
    await pass(PROBE_EVERY_MS)
    limiter.close()
    await pass(10 * PROBE_EVERY_MS)
    expect([shared.taken.length, reconnects, states.length]).toEqual([1, 0, 1])
  })

  it('three probes in a row without a reply replace the connection', async () => {
    await degrade()
    shared.answer = hangs
    const probed = () => pass(PROBE_EVERY_MS + DEADLINE_MS)
    await probed()
    await probed()
    expect(reconnects).toBe(0)
    await probed()
    expect(reconnects).toBe(1)
  })

  it.each([
    ['late, since Redis is slow and not dead', answersAfter(DEADLINE_MS + 30)],
    ['rejected, since a new connection is in progress', fails],
    ['rejected late', failsAfter(DEADLINE_MS + 30)],
  ])('a probe keeps the connection when it is %s', async (_how, answer) => {
    await degrade()
    shared.answer = answer
    await pass(10 * (PROBE_EVERY_MS + DEADLINE_MS))
    expect([reconnects, states.length]).toEqual([0, 1])
  })

  it('a probe also reads the key that failed, which may be on another cluster node', async () => {
    await degrade()
    shared.answer = answers
    shared.failing = 'acc_1'
    await pass(PROBE_EVERY_MS)
    expect(await limiter.take('acc_2')).toBe(FROM_LOCAL)
    shared.failing = undefined
    await pass(PROBE_EVERY_MS)
    expect(await limiter.take('acc_2')).toBe(FROM_SHARED)
  })
})

describe('isDegraded', () => {
  it('queries the shared limiter with a reserved key, without counting a decision', async () => {
    expect(await limiter.isDegraded()).toBe(false)
    expect(shared.calls).toEqual(['~probe'])
    expect([counted, observed, states]).toEqual([[], [], []])
  })

  it('detects an outage before any decision has to wait', async () => {
    holdTime()
    shared.answer = hangs
    const calls = limiter.isDegraded()
    await pass(DEADLINE_MS)
    expect(await calls).toBe(true)
    expect(await limiter.take('acc_1')).toBe(FROM_LOCAL)
    expect(shared.taken).toEqual([])
  })

  it('isDegraded does not query while degraded, and is false after a successful probe', async () => {
    holdTime()
    shared.answer = fails
    await limiter.take('acc_1')
    shared.calls.length = 0
    expect(await limiter.isDegraded()).toBe(true)
    expect(shared.calls).toEqual([])
    shared.answer = answers
    await pass(PROBE_EVERY_MS)
    expect(await limiter.isDegraded()).toBe(false)
  })
})
