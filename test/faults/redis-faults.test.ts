import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type FaultyProxy, startFaultyProxy } from '../../scripts/services/faulty-proxy.ts'
import { type RunningRedis, startRedis } from '../../scripts/services/redis.ts'
import {
  becomes,
  countTogether,
  decideAll,
  decideFor,
  type LimitingProcess,
  openProcess,
  PATIENT,
  type ProcessOptions,
  send,
  whenOver,
} from './limiting-process.ts'

describe('with a Redis of one node', () => {
  let redis: RunningRedis
  let proxy: FaultyProxy
  beforeAll(async () => {
    redis = await startRedis()
  })
  beforeEach(async () => {
    proxy = await startFaultyProxy(redis.port)
    whenOver(proxy.close)
  })
  afterAll(() => redis.stop())

  const openTwo = async (options?: ProcessOptions) =>
    [await openProcess([redis.url], options), await openProcess([redis.url], options)] as const
  const proxied = () => `redis://127.0.0.1:${proxy.port}`

  it('two processes count together', async () => {
    const [one, other] = await openTwo(PATIENT)
    await countTogether(one, other)
    expect([one.told, other.told]).toEqual(
      Array.from({ length: 2 }, () => ({ errors: [], states: [], localDecisions: 0 })),
    )
  })

  it('that is killed, decisions are local, and shared when another has started', async () => {
    const [one, other] = await openTwo()
    await decideAll(one)
    send('SIGKILL', redis)
    await becomes(one, 'local')
    await becomes(other, 'local')
    await redis.restart()
    await becomes(one, 'shared')
    await becomes(other, 'shared')
    await countTogether(one, other)
  })

  it('that is killed, the error is told once, however often it is seen', async () => {
    const one = await openProcess([redis.url])
    send('SIGKILL', redis)
    await becomes(one, 'local')
    await decideFor(one, 500)
    await redis.restart()
    await becomes(one, 'shared')
    expect(one.told.errors).toEqual([expect.stringMatching(/ECONN(REFUSED|RESET)/)])
  })

  it('that is killed, every local decision is counted in the metrics', async () => {
    const one = await openProcess([redis.url])
    expect(await one.metrics.registry.metrics()).toContain(
      'limiter_degraded_decisions_total{decision="take"} 0',
    )
    send('SIGKILL', redis)
    await becomes(one, 'local')
    await redis.restart()
    await becomes(one, 'shared')
    const { values } = await one.metrics.degradedDecisions.get()
    expect(values.map(({ labels }) => labels.decision)).toEqual([
      'take',
      'blocked',
      'count_failure',
    ])
    expect(values.reduce((sum, { value }) => sum + value, 0)).toBe(one.told.localDecisions)
  })

  it('that has forgotten the scripts, nothing is decided locally', async () => {
    const [one, other] = await openTwo(PATIENT)
    await decideAll(one)
    await one.redis.script('FLUSH')
    await Promise.all([decideAll(one), decideAll(other)])
    await countTogether(one, other)
    expect([one.told.localDecisions, other.told.localDecisions]).toEqual([0, 0])
  })

  it('that has forgotten everything, counting begins anew', async () => {
    const one = await openProcess([redis.url], PATIENT)
    await one.limiter.take('acc_1')
    await one.redis.flushall()
    expect((await one.limiter.take('acc_1')).remaining).toBe(999)
    expect(one.told.localDecisions).toBe(0)
  })

  it('that hangs, decisions are local, and shared when it goes on', async () => {
    const [one, other] = await openTwo()
    send('SIGSTOP', redis)
    try {
      await becomes(one, 'local')
      await decideFor(one, 1_500)
      expect(one.told.states).toEqual([true])
    } finally {
      send('SIGCONT', redis)
    }
    await becomes(one, 'shared')
    await becomes(other, 'shared')
    await countTogether(one, other)
  })

  it('that hangs at the start, the process starts', async () => {
    send('SIGSTOP', redis)
    let one: LimitingProcess
    try {
      one = await openProcess([redis.url])
      await becomes(one, 'local')
      await decideFor(one, 1_500)
    } finally {
      send('SIGCONT', redis)
    }
    await becomes(one, 'shared')
  })

  it('that is not there at the start, the process starts, and shares when it is', async () => {
    proxy.refuse = true
    const one = await openProcess([proxied()])
    await becomes(one, 'local')
    expect(one.told.errors).toHaveLength(1)
    proxy.refuse = false
    await becomes(one, 'shared')
  })

  it('that is slow, decisions are local, and shared when it is fast', async () => {
    const one = await openProcess([proxied()])
    proxy.delayMs = 100
    await becomes(one, 'local')
    await decideFor(one, 1_500)
    expect(one.told.states).toEqual([true])
    expect(one.redis.status).toBe('ready')
    proxy.delayMs = 0
    await becomes(one, 'shared')
  })

  it('whose packets vanish, decisions are local, and shared over a new connection', async () => {
    const one = await openProcess([proxied()])
    proxy.stall = true
    await becomes(one, 'local')
    proxy.stall = false
    await becomes(one, 'shared')
  })

  it('whose packets vanish for long, decisions are shared soon after', async () => {
    const one = await openProcess([proxied()])
    proxy.stall = true
    await becomes(one, 'local')
    await decideFor(one, 2_500)
    proxy.stall = false
    await becomes(one, 'shared')
  })

  it('whose connections are reset, decisions are shared over new ones', async () => {
    const one = await openProcess([proxied()])
    for (let times = 0; times < 3; times++) {
      proxy.cut()
      await decideFor(one, 50)
      await becomes(one, 'shared')
    }
    expect(one.told.localDecisions).toBeGreaterThan(0)
  })

  it('that became a replica, decisions are local, and shared when it takes writes again', async () => {
    const one = await openProcess([redis.url])
    const admin = new Redis(redis.url)
    whenOver(() => admin.disconnect())
    await admin.replicaof('127.0.0.1', 1)
    await becomes(one, 'local')
    await admin.replicaof('NO', 'ONE')
    await becomes(one, 'shared')
  })

  it('a busy event loop is not taken for a slow Redis', async () => {
    const one = await openProcess([redis.url], { deadlineMs: 500 })
    await decideAll(one)
    const decision = one.limiter.take('acc_1')
    const busyUntil = performance.now() + 1_000
    while (performance.now() < busyUntil);
    await decision
    expect(one.told.localDecisions).toBe(0)
  })
})
