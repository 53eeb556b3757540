import { stat } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  createFallbackLimiter,
  type FallbackLimiter,
} from '../../../src/rate-limit/fallback-limiter.ts'
import type { BucketDecision } from '../../../src/rate-limit/gcra.ts'
import type { Limiter, LimiterDecision } from '../../../src/rate-limit/limiter.ts'

const told = (remaining: number): BucketDecision => ({
  allowed: true,
  remaining,
  resetSeconds: 1,
  retryAfterSeconds: 0,
})
const FROM_SHARED = told(1)
const FROM_LOCAL = told(2)
const DEADLINE_MS = 50
const PROBE_EVERY_MS = 200

interface Scripted {
  limiter: Limiter
  /** What every call does. */
  answer(): Promise<BucketDecision>
  /** The accounts and addresses of the calls, and the accounts among them. */
  asked: string[]
  taken: string[]
  /** Fails whatever the answer is. */
  failing: string | undefined
}

function scripted(answer: () => Promise<BucketDecision>): Scripted {
  function call(name: string) {
    one.asked.push(name)
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
    asked: [],
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
    onStateChange: (degraded, cause) => states.push([degraded, cause]),
    reconnect: () => {
      reconnects += 1
    },
  })
})
afterEach(() => {
  limiter.close()
  vi.useRealTimers()
})

/** Only timers are the test's; the turns of the event loop stay the real ones. */
const holdTime = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
const turn = () => new Promise((resolve) => setImmediate(resolve))
/** Lets time pass, and what was due in it come to its end. */
async function pass(ms: number) {
  await vi.advanceTimersByTimeAsync(ms)
  await turn()
  await turn()
}

describe('while the shared limiter answers', () => {
  it('it decides alone, and nothing is counted as degraded', async () => {
    expect(await limiter.take('acc_1')).toBe(FROM_SHARED)
    expect(await limiter.blockedSeconds('1.2.3.4')).toBe(FROM_SHARED.remaining)
    expect(await limiter.countFailure('1.2.3.4')).toBe(FROM_SHARED.remaining)
    expect([local.asked, counted, states]).toEqual([[], [], []])
  })

  it('every decision that it makes is seen', async () => {
    await limiter.take('acc_1')
    await limiter.blockedSeconds('1.2.3.4')
    await limiter.countFailure('1.2.3.4')
    expect(observed).toEqual(['take ok', 'blocked ok', 'count_failure ok'])
  })

  it('it has until the deadline', async () => {
    holdTime()
    shared.answer = answersAfter(DEADLINE_MS - 1)
    const decision = limiter.take('acc_1')
    await pass(DEADLINE_MS - 1)
    expect(await decision).toBe(FROM_SHARED)
    expect(states).toEqual([])
  })

  it('a busy event loop is not held against it: the answer that came meanwhile counts', async () => {
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

describe('when the shared limiter does not answer in time', () => {
  it('the local one decides at the deadline', async () => {
    holdTime()
    shared.answer = hangs
    const decision = limiter.take('acc_1')
    await pass(DEADLINE_MS - 1)
    expect(local.asked).toEqual([])
    await pass(1)
    expect(await decision).toBe(FROM_LOCAL)
    expect(local.asked).toEqual(['acc_1'])
  })

  it.each([
    ['fails', fails],
    ['throws', throws],
  ])('the local one decides at once if it %s', async (_how, answer) => {
    holdTime()
    shared.answer = answer
    expect(await limiter.take('acc_1')).toBe(FROM_LOCAL)
  })

  it('every decision is counted by its name', async () => {
    shared.answer = fails
    await limiter.take('acc_1')
    await limiter.blockedSeconds('1.2.3.4')
    await limiter.countFailure('1.2.3.4')
    await limiter.take('acc_2')
    expect(counted).toEqual(['take', 'blocked', 'count_failure', 'take'])
  })

  it('what it is asked is seen to fail at the deadline, and nothing more is seen', async () => {
    holdTime()
    shared.answer = hangs
    const decision = limiter.take('acc_1')
    await pass(DEADLINE_MS)
    await decision
    await limiter.take('acc_2')
    await pass(3 * PROBE_EVERY_MS)
    expect(observed).toEqual(['take failed'])
  })

  it('only those pay for it that are under way: the next are decided locally without asking', async () => {
    holdTime()
    shared.answer = hangs
    const underWay = Promise.all([limiter.take('acc_1'), limiter.take('acc_2')])
    await pass(DEADLINE_MS)
    await underWay
    expect(await limiter.take('acc_3')).toBe(FROM_LOCAL)
    expect(shared.asked).toEqual(['acc_1', 'acc_2'])
  })

  it('the change of state is told once, with its cause', async () => {
    shared.answer = fails
    await Promise.all([limiter.take('acc_1'), limiter.take('acc_2'), limiter.take('acc_3')])
    expect(states).toEqual([[true, new Error('connection lost')]])
  })

  it.each([
    ['an answer', answersAfter],
    ['a failure', failsAfter],
  ])('%s that comes too late goes nowhere', async (_what, late) => {
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
    shared.asked.length = 0
    shared.taken.length = 0
  }

  it('asks the shared limiter every so often, for what is no account', async () => {
    await degrade()
    await pass(PROBE_EVERY_MS - 1)
    expect(shared.taken).toEqual([])
    await pass(1)
    await pass(PROBE_EVERY_MS)
    const [probe = '', ...others] = shared.taken
    expect(probe).not.toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    expect(others).toEqual([probe])
  })

  it('that is answered brings the shared limiter back', async () => {
    await degrade()
    shared.answer = answers
    await pass(PROBE_EVERY_MS)
    expect(await limiter.take('acc_1')).toBe(FROM_SHARED)
    expect(states.map(([degraded]) => degraded)).toEqual([true, false])
    const asked = shared.asked.length
    await pass(10 * PROBE_EVERY_MS)
    expect(shared.asked).toHaveLength(asked)
  })

  it('that is answered too late does not', async () => {
    await degrade()
    shared.answer = answersAfter(DEADLINE_MS + 1)
    await pass(PROBE_EVERY_MS + DEADLINE_MS + 1)
    expect(await limiter.take('acc_1')).toBe(FROM_LOCAL)
  })

  it('keeps nobody waiting', async () => {
    await degrade()
    shared.answer = hangs
    await pass(PROBE_EVERY_MS)
    expect(await limiter.take('acc_1')).toBe(FROM_LOCAL)
  })

  it('is not counted as a decision', async () => {
    await degrade()
    await pass(5 * PROBE_EVERY_MS)
    expect(counted).toEqual(['take'])
  })

  it('stops when the limiter is closed, also one that is under way', async () => {
    await degrade()
    shared.answer = hangs
    await pass(PROBE_EVERY_MS)
    limiter.close()
    await pass(10 * PROBE_EVERY_MS)
    expect([shared.taken.length, reconnects, states.length]).toEqual([1, 0, 1])
  })

  it('and two more without any answer make a new connection', async () => {
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
    ['answered late: it is slow, not dead', answersAfter(DEADLINE_MS + 30)],
    ['refused: a new connection is under way', fails],
    ['refused late', failsAfter(DEADLINE_MS + 30)],
  ])('leaves the connection alone that is %s', async (_how, answer) => {
    await degrade()
    shared.answer = answer
    await pass(10 * (PROBE_EVERY_MS + DEADLINE_MS))
    expect([reconnects, states.length]).toEqual([0, 1])
  })

  it('asks where the decision failed, too: in a cluster that may be another node', async () => {
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

describe('whether it is degraded', () => {
  it('is found out by asking, for what is no address, and is no decision', async () => {
    expect(await limiter.isDegraded()).toBe(false)
    expect(shared.asked).toEqual(['~probe'])
    expect([counted, observed, states]).toEqual([[], [], []])
  })

  it('is known once a question has no answer, before any decision had to wait for it', async () => {
    holdTime()
    shared.answer = hangs
    const asked = limiter.isDegraded()
    await pass(DEADLINE_MS)
    expect(await asked).toBe(true)
    expect(await limiter.take('acc_1')).toBe(FROM_LOCAL)
    expect(shared.taken).toEqual([])
  })

  it('is not asked again while it is known, and not so once a probe is answered', async () => {
    holdTime()
    shared.answer = fails
    await limiter.take('acc_1')
    shared.asked.length = 0
    expect(await limiter.isDegraded()).toBe(true)
    expect(shared.asked).toEqual([])
    shared.answer = answers
    await pass(PROBE_EVERY_MS)
    expect(await limiter.isDegraded()).toBe(false)
  })
})
