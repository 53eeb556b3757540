import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type RunningRedis, startRedis } from '../../scripts/services/redis.ts'
import { startFaultyProxy } from '../support/faulty-proxy.ts'
import {
  becomes,
  countTogether,
  decideAll,
  decideFor,
  openProcess,
  PATIENT,
  send,
} from './limiting-process.ts'

describe('with Redis Cluster', () => {
  let node: RunningRedis
  let urls: string[]
  beforeAll(async () => {
    // A node that never met another does not know its own address.
    const announce = ['--cluster-announce-ip', '127.0.0.1']
    node = await startRedis({ args: ['--cluster-enabled', 'yes', ...announce] })
    const admin = new Redis(node.url)
    await admin.cluster('ADDSLOTSRANGE', 0, 16_383)
    await becomesUsable(admin)
    admin.disconnect()
    const gone = await startFaultyProxy(node.port)
    await gone.close()
    urls = [`redis://127.0.0.1:${gone.port}`, node.url]
  })
  afterAll(() => node.stop())

  /** A node of a cluster thinks about it for two seconds, at its start too. */
  const becomesUsable = (admin: Redis) =>
    vi.waitFor(async () => expect(await admin.cluster('INFO')).toContain('cluster_state:ok'), {
      timeout: 10_000,
    })

  it('processes count together, also when the first node they are told of is dead', async () => {
    const [one, other] = [await openProcess(urls, PATIENT), await openProcess(urls, PATIENT)]
    await countTogether(one, other)
    await decideAll(one)
    expect(one.told.localDecisions + other.told.localDecisions).toBe(0)
  })

  it('that is killed, decisions are local, and shared when it has started again', async () => {
    const one = await openProcess(urls)
    await decideAll(one)
    send('SIGKILL', node)
    await becomes(one, 'local')
    await decideFor(one, 1_000)
    await node.restart()
    const admin = new Redis(node.url)
    await becomesUsable(admin)
    admin.disconnect()
    await becomes(one, 'shared')
  })

  it('that hangs, decisions are local, and shared when it goes on', async () => {
    const one = await openProcess(urls)
    await decideAll(one)
    send('SIGSTOP', node)
    try {
      await becomes(one, 'local')
      await decideFor(one, 1_500)
    } finally {
      send('SIGCONT', node)
    }
    await becomes(one, 'shared')
  })
})
