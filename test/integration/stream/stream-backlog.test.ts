import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { entriesFromStream } from '../../../src/indexing/consistency-check/source-entries.ts'
import type { StreamInspection } from '../../../src/indexing/consistency-check/stream-inspection.ts'
import { openRedisStreamInspection } from '../../../src/stores/redis/stream-inspection.ts'
import { collect } from '../../support/orders/collect.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'

const url = process.env['REDIS_URL'] ?? ''
const GROUP = 'indexer'

let redis: Redis
let prefix: string
let stream: string
let inspection: StreamInspection
beforeEach(async () => {
  redis = new Redis(url)
  prefix = `test-${randomBytes(6).toString('hex')}-`
  stream = `${prefix}orders:changes`
  inspection = await openRedisStreamInspection({ urls: [url], ca: undefined, prefix })
})
afterEach(async () => {
  inspection.close()
  await redis.del(stream, `${prefix}orders:refused`)
  redis.disconnect()
})

async function put(count: number, value = (n: number) => `${n}`): Promise<string[]> {
  const ids = []
  for (let n = 0; n < count; n++) ids.push(await redis.xadd(stream, '*', 'order', value(n)))
  return ids.map(String)
}

async function deliver(count: number): Promise<void> {
  await redis.xgroup('CREATE', stream, GROUP, '0').catch(() => {})
  await redis.xreadgroup('GROUP', GROUP, 'writer', 'COUNT', count, 'STREAMS', stream, '>')
}

async function acknowledged(): Promise<string[]> {
  const pages = await collect(inspection.acknowledged())
  return pages.flat().map(({ id }) => id)
}

describe('the backlog', () => {
  it('the backlog of a missing stream is 0', async () => {
    expect(await inspection.backlog()).toEqual({ backlog: 0, oldestAgeMs: null, deadLetters: 0 })
  })

  it('the backlog without a consumer is the whole stream', async () => {
    await put(3)
    expect(await inspection.backlog()).toMatchObject({ backlog: 3 })
  })

  it('the backlog is the undelivered and unacknowledged entries', async () => {
    const [first = ''] = await put(5)
    await deliver(3)
    await redis.xack(stream, GROUP, first)
    expect(await inspection.backlog()).toMatchObject({ backlog: 4 })
  })

  it('the age of the backlog is that of the oldest unacknowledged entry', async () => {
    const [seconds] = await redis.time()
    const at = (agoSeconds: number) => `${(Number(seconds) - agoSeconds) * 1000}-0`
    for (const ago of [300, 200, 100]) await redis.xadd(stream, at(ago), 'order', 'x')
    await deliver(2)
    await redis.xack(stream, GROUP, at(300))
    expect(ageOf(await inspection.backlog())).toBe(2)
    await redis.xack(stream, GROUP, at(200))
    expect(ageOf(await inspection.backlog())).toBe(1)
  })

  it('an empty backlog has no age', async () => {
    const ids = await put(2)
    await deliver(2)
    await redis.xack(stream, GROUP, ...ids)
    expect(await inspection.backlog()).toMatchObject({ backlog: 0, oldestAgeMs: null })
  })

  it('the backlog reports the number of dead letters', async () => {
    await redis.xadd(`${prefix}orders:refused`, '*', 'reason', 'x')
    expect(await inspection.backlog()).toMatchObject({ deadLetters: 1 })
  })
})

describe('acknowledged entries', () => {
  it('acknowledged entries are delivered and not pending', async () => {
    const ids = await put(100)
    await deliver(80)
    const done = ids.slice(0, 80).filter((_, at) => at % 3 > 0)
    await redis.xack(stream, GROUP, ...done)
    expect(await acknowledged()).toEqual(done)
  })

  it('no entry is acknowledged before the first consumer', async () => {
    await put(2)
    expect(await acknowledged()).toEqual([])
    expect(await redis.xinfo('GROUPS', stream)).toEqual([])
  })

  it('acknowledged entries are read as source orders named by entry id', async () => {
    const ids = await put(2, (n) => (n === 0 ? JSON.stringify(sourceOrder()) : '{"id":'))
    ids.push(String(await redis.xadd(stream, '*', 'other', 'x')))
    await deliver(3)
    await redis.xack(stream, GROUP, ...ids)
    expect(await collect(entriesFromStream(inspection))).toMatchObject([
      { place: `stream entry ${ids[0]}`, result: { orderId: 'ord_1', version: 1 } },
      { place: `stream entry ${ids[1]}`, result: { reason: expect.stringContaining('not JSON') } },
      { place: `stream entry ${ids[2]}`, result: { reason: expect.stringContaining('"order"') } },
    ])
  })
})

/** In hundreds of seconds. */
function ageOf({ oldestAgeMs }: { oldestAgeMs: number | null }): number {
  return Math.floor((oldestAgeMs ?? 0) / 100_000)
}
