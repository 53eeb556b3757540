import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startFaultyProxy } from '../harness/faulty-proxy/faulty-proxy.ts'
import { type RunningRedis, startRedis } from '../harness/services/redis.ts'
import {
  callDecisionsFor,
  callEveryDecision,
  openLimiterProcess,
  RELAXED_TIMEOUTS,
  send,
  waitUntilDecisionsAre,
  waitUntilShared,
} from './limiter-process.ts'

const SLOTS = 16_384

describe('Redis Cluster', () => {
  const nodes: RunningRedis[] = []
  let urls: string[]
  beforeAll(async () => {
    const args = ['--cluster-enabled', 'yes']
    nodes.push(await startRedis({ args }), await startRedis({ args }))
    const [one, other] = nodes.map(({ url }) => new Redis(url)) as [Redis, Redis]
    await one.cluster('ADDSLOTSRANGE', 0, SLOTS / 2 - 1)
    await other.cluster('ADDSLOTSRANGE', SLOTS / 2, SLOTS - 1)
    await one.cluster('MEET', '127.0.0.1', other.options.port ?? 0)
    one.disconnect()
    other.disconnect()
    await becomesUsable()

    const gone = await startFaultyProxy(0)
    await gone.close()
    urls = [`redis://127.0.0.1:${gone.port}`, ...nodes.map(({ url }) => url)]
  })
  afterAll(() => Promise.all(nodes.map((node) => node.stop())))

  /** Cluster nodes need two seconds to agree on the state, also after a restart. */
  const becomesUsable = () =>
    Promise.all(
      nodes.map(async ({ url }) => {
        const node = new Redis(url)
        await vi.waitFor(
          async () => {
            const state = await node.cluster('INFO')
            expect(state).toContain('cluster_state:ok')
            expect(state).toContain(`cluster_slots_ok:${SLOTS}`)
          },
          { timeout: 60_000 },
        )
        node.disconnect()
      }),
    )

  /** The node with the slot of the account. */
  async function nodeOf(accountId: string): Promise<RunningRedis> {
    const redis = new Redis(urls.at(-1) ?? '')
    const slot = await redis.cluster('KEYSLOT', `{${accountId}}`)
    redis.disconnect()
    return nodes[slot < SLOTS / 2 ? 0 : 1] as RunningRedis
  }

  it('processes share limits even if the first configured node is dead', async () => {
    const [one, other] = [
      await openLimiterProcess(urls, RELAXED_TIMEOUTS),
      await openLimiterProcess(urls, RELAXED_TIMEOUTS),
    ]
    const accounts = Array.from({ length: 20 }, (_, n) => `acc_${n}`)
    await Promise.all(accounts.map((accountId) => one.limiter.take(accountId)))
    await callEveryDecision(other)
    await waitUntilShared(one, other)
    expect(one.recorded.localDecisions + other.recorded.localDecisions).toBe(0)
  })

  it('limits are local while a cluster node is dead and shared after its restart', async () => {
    const one = await openLimiterProcess(urls)
    const node = await nodeOf('acc_1')
    send('SIGKILL', node)
    await waitUntilDecisionsAre(one, 'local')
    await callDecisionsFor(one, 1_000)
    await node.restart()
    await becomesUsable()
    await waitUntilDecisionsAre(one, 'shared')
  })

  it('limits are local while a cluster node hangs and shared after it resumes', async () => {
    const one = await openLimiterProcess(urls)
    const node = await nodeOf('acc_1')
    send('SIGSTOP', node)
    try {
      await waitUntilDecisionsAre(one, 'local')
      await callDecisionsFor(one, 1_500)
      expect(one.recorded.states).toEqual([true])
    } finally {
      send('SIGCONT', node)
    }
    await waitUntilDecisionsAre(one, 'shared')
  })
})

describe('the URLs of a Redis Cluster', () => {
  let node: RunningRedis
  beforeAll(async () => {
    const args = ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1']
    node = await startRedis({ args })
    const admin = new Redis(node.url)
    await admin.cluster('ADDSLOTSRANGE', 0, SLOTS - 1)
    await vi.waitFor(
      async () => expect(await admin.cluster('INFO')).toContain('cluster_state:ok'),
      { timeout: 60_000 },
    )
    await admin.config('SET', 'requirepass', 'word')
    admin.disconnect()
  })
  afterAll(() => node.stop())

  it('the credentials of a later URL are for all nodes', async () => {
    const urls = [node.url, `redis://:word@localhost:${node.port}`]
    const one = await openLimiterProcess(urls, RELAXED_TIMEOUTS)
    await callEveryDecision(one)
    expect(one.recorded).toMatchObject({ localDecisions: 0, errors: [] })
  })

  it('the family of a URL is for all nodes', async () => {
    const urls = [`${node.url}?family=4`, `redis://:word@localhost:${node.port}?family=4`]
    const { redis } = await openLimiterProcess(urls, RELAXED_TIMEOUTS)
    expect(redis.options).toMatchObject({ redisOptions: { family: 4 } })
  })
})
