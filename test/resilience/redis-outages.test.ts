import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { RELAXED } from '../../src/stores/redis/client.ts'
import { type FaultyProxy, startFaultyProxy } from '../harness/faulty-proxy/faulty-proxy.ts'
import { type RunningRedis, startRedis } from '../harness/services/redis.ts'
import {
  callDecisionsFor,
  callEveryDecision,
  type LimiterProcess,
  onTestEnd,
  openLimiterProcess,
  type ProcessOptions,
  RELAXED_TIMEOUTS,
  send,
  waitUntilDecisionsAre,
  waitUntilShared,
} from './limiter-process.ts'

describe('a Redis of one node', () => {
  let redis: RunningRedis
  let proxy: FaultyProxy
  beforeAll(async () => {
    redis = await startRedis()
  })
  beforeEach(async () => {
    proxy = await startFaultyProxy(redis.port)
    onTestEnd(proxy.close)
  })
  afterAll(() => redis.stop())

  const openTwo = async (options?: ProcessOptions) =>
    [
      await openLimiterProcess([redis.url], options),
      await openLimiterProcess([redis.url], options),
    ] as const
  const proxied = () => `redis://127.0.0.1:${proxy.port}`

  it('two processes share limits through one Redis', async () => {
    const [one, other] = await openTwo(RELAXED_TIMEOUTS)
    await waitUntilShared(one, other)
    expect([one.recorded, other.recorded]).toEqual(
      Array.from({ length: 2 }, () => ({ errors: [], states: [], localDecisions: 0 })),
    )
  })

  it('limits are local after Redis is killed and shared after its restart', async () => {
    const [one, other] = await openTwo()
    await callEveryDecision(one)
    send('SIGKILL', redis)
    await waitUntilDecisionsAre(one, 'local')
    await waitUntilDecisionsAre(other, 'local')
    await redis.restart()
    await waitUntilDecisionsAre(one, 'shared')
    await waitUntilDecisionsAre(other, 'shared')
    await waitUntilShared(one, other)
  })

  it('a killed Redis is logged once', async () => {
    const one = await openLimiterProcess([redis.url], { timeouts: RELAXED })
    send('SIGKILL', redis)
    await waitUntilDecisionsAre(one, 'local')
    await callDecisionsFor(one, 500)
    await redis.restart()
    await waitUntilDecisionsAre(one, 'shared')
    expect(one.recorded.errors).toEqual([expect.stringMatching(/ECONN(REFUSED|RESET)/)])
  })

  it('the metrics count every local decision after Redis is killed', async () => {
    const one = await openLimiterProcess([redis.url])
    expect(await one.metrics.registry.metrics()).toContain(
      'limiter_degraded_decisions_total{decision="take"} 0',
    )
    send('SIGKILL', redis)
    await waitUntilDecisionsAre(one, 'local')
    await redis.restart()
    await waitUntilDecisionsAre(one, 'shared')
    const { values } = await one.metrics.fallbackDecisions.get()
    expect(values.map(({ labels }) => labels.decision)).toEqual([
      'take',
      'blocked',
      'count_failure',
    ])
    expect(values.reduce((sum, { value }) => sum + value, 0)).toBe(one.recorded.localDecisions)
  })

  it('limits stay shared after Redis loses its scripts', async () => {
    const [one, other] = await openTwo(RELAXED_TIMEOUTS)
    await callEveryDecision(one)
    await one.redis.script('FLUSH')
    await Promise.all([callEveryDecision(one), callEveryDecision(other)])
    await waitUntilShared(one, other)
    expect([one.recorded.localDecisions, other.recorded.localDecisions]).toEqual([0, 0])
  })

  it('limits restart from full buckets after Redis is flushed', async () => {
    const one = await openLimiterProcess([redis.url], RELAXED_TIMEOUTS)
    await one.limiter.take('acc_1')
    await one.redis.flushall()
    expect((await one.limiter.take('acc_1')).remaining).toBe(999)
    expect(one.recorded.localDecisions).toBe(0)
  })

  it('limits are local while Redis hangs and shared after it resumes', async () => {
    const [one, other] = await openTwo()
    send('SIGSTOP', redis)
    try {
      await waitUntilDecisionsAre(one, 'local')
      await callDecisionsFor(one, 1_500)
      expect(one.recorded.states).toEqual([true])
    } finally {
      send('SIGCONT', redis)
    }
    await waitUntilDecisionsAre(one, 'shared')
    await waitUntilDecisionsAre(other, 'shared')
    await waitUntilShared(one, other)
  })

  it('a process starts while Redis hangs', async () => {
    send('SIGSTOP', redis)
    let one: LimiterProcess
    try {
      one = await openLimiterProcess([redis.url])
      await waitUntilDecisionsAre(one, 'local')
      await callDecisionsFor(one, 1_500)
    } finally {
      send('SIGCONT', redis)
    }
    await waitUntilDecisionsAre(one, 'shared')
  })

  it('a process starts without Redis and shares limits once Redis starts', async () => {
    proxy.refuse = true
    const one = await openLimiterProcess([proxied()])
    await waitUntilDecisionsAre(one, 'local')
    expect(one.recorded.errors).toHaveLength(1)
    proxy.refuse = false
    await waitUntilDecisionsAre(one, 'shared')
  })

  it('limits are local while Redis is slow and shared when it is fast', async () => {
    const one = await openLimiterProcess([proxied()])
    proxy.delayMs = 100
    await waitUntilDecisionsAre(one, 'local')
    await callDecisionsFor(one, 1_500)
    expect(one.recorded.states).toEqual([true])
    expect(one.redis.status).toBe('ready')
    proxy.delayMs = 0
    await waitUntilDecisionsAre(one, 'shared')
  })

  it('limits are local while packets are dropped and shared over a new connection', async () => {
    const one = await openLimiterProcess([proxied()])
    proxy.stall = true
    await waitUntilDecisionsAre(one, 'local')
    proxy.stall = false
    await waitUntilDecisionsAre(one, 'shared')
  })

  it('limits are shared soon after a long packet loss', async () => {
    const one = await openLimiterProcess([proxied()])
    proxy.stall = true
    await waitUntilDecisionsAre(one, 'local')
    await callDecisionsFor(one, 2_500)
    proxy.stall = false
    await waitUntilDecisionsAre(one, 'shared')
  })

  it('limits are shared over new connections after resets', async () => {
    const one = await openLimiterProcess([proxied()])
    for (let times = 0; times < 3; times++) {
      proxy.resetConnections()
      await callDecisionsFor(one, 50)
      await waitUntilDecisionsAre(one, 'shared')
    }
    expect(one.recorded.localDecisions).toBeGreaterThan(0)
  })

  it('limits are local while Redis is a replica and shared when it accepts writes', async () => {
    const one = await openLimiterProcess([redis.url])
    const admin = new Redis(redis.url)
    onTestEnd(() => admin.disconnect())
    await admin.replicaof('127.0.0.1', 1)
    await waitUntilDecisionsAre(one, 'local')
    await admin.replicaof('NO', 'ONE')
    await waitUntilDecisionsAre(one, 'shared')
  })

  it('a busy event loop does not count as a slow Redis', async () => {
    const one = await openLimiterProcess([redis.url], { deadlineMs: 500, timeouts: RELAXED })
    await callEveryDecision(one)
    const decision = one.limiter.take('acc_1')
    const busyUntil = performance.now() + 1_000
    while (performance.now() < busyUntil);
    await decision
    expect(one.recorded.localDecisions).toBe(0)
  })
})
