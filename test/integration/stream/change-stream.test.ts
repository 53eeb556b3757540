import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ChangeStream } from '../../../src/indexing/sources/change-stream.ts'
import { openRedisStream } from '../../../src/stores/redis/stream.ts'
import { type Backend, createBackend } from '../../support/stores/backend.ts'
import { type ChangeFeed, openChangeFeed } from '../../support/streams/change-feed.ts'
import { drain, idsOf } from '../../support/streams/drain.ts'

const MIB = 1024 * 1024
const NOT_UTF8 = Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x7d])

// What Kafka does too is in `stream-contract.test.ts`.
let backend: Backend
let feed: ChangeFeed
let stream: ChangeStream
beforeEach(async () => {
  backend = createBackend()
  feed = openChangeFeed(backend.env)
  stream = await open()
})
afterEach(async () => {
  stream.close()
  await feed.close()
  await backend.remove()
})

function open(): Promise<ChangeStream> {
  const { REDIS_URL = '', REDIS_PREFIX: prefix = '' } = backend.env
  return openRedisStream({ urls: [REDIS_URL], ca: undefined, prefix })
}

describe('reading', () => {
  it('reading creates a missing group at the start of the stream', async () => {
    const ids = await feed.add('one', 'two')
    const { entries, lost } = await stream.read()
    expect([idsOf(entries), lost]).toEqual([ids, []])
    expect(entries.map(({ order }) => String(order))).toEqual(['one', 'two'])
  })

  it('reading recreates the group after Redis was flushed', async () => {
    await feed.add('one')
    await drain(stream)
    await feed.redis.del(feed.stream)
    const ids = await feed.add('two')
    expect(idsOf((await stream.read()).entries)).toEqual(ids)
  })

  it('reading reports a stream that Redis lost once, with what replaced it', async () => {
    await feed.add('one')
    await drain(stream)
    await feed.add('never read')
    await feed.redis.del(feed.stream)
    const ids = await feed.add('two')
    const { entries, lost } = await stream.read()
    const reported = [{ id: 'all that Redis had: it lost the stream', count: 1 }]
    expect([idsOf(entries), lost]).toEqual([ids, reported])
    expect((await stream.read()).lost).toEqual([])
  })

  it('reading continues when the stream is deleted during a blocking read', async () => {
    await drain(stream)
    const reading = stream.read()
    await pause(100) // The first read returns nothing.
    await feed.redis.del(feed.stream)
    expect((await reading).entries).toEqual([])
    const ids = await feed.add('one')
    expect(idsOf((await stream.read()).entries)).toEqual(ids)
  })

  it('reading blocks until a new entry arrives', async () => {
    await drain(stream)
    const reading = stream.read()
    const ids = await feed.add('one')
    expect(idsOf((await reading).entries)).toEqual(ids)
  })

  it('reading returns unacknowledged entries before new ones', async () => {
    const first = await feed.add('one', 'two')
    await stream.read()
    const second = await feed.add('three')
    expect(idsOf((await stream.read()).entries)).toEqual([...first, ...second])
  })

  it.each([
    ['no', ['data', 'x']],
    ['two', ['order', 'x', 'order', 'y']],
  ])(
    'reading an entry with %s order fields returns no order and all its fields',
    async (_name, fields) => {
      await feed.addFields(...fields)
      const [entry] = (await stream.read()).entries
      expect([entry?.order, entry?.fields.map(String)]).toEqual([undefined, fields])
    },
  )

  it('reading returns at most 500 entries or about 4 MiB', async () => {
    await feed.add(...Array.from({ length: 1_001 }, () => 'small'))
    expect(await drain(stream)).toEqual([500, 500, 1])
    await feed.add(...Array.from({ length: 12 }, () => Buffer.alloc(MIB, 'x')))
    expect(await drain(stream)).toEqual([4, 4, 4])
  })

  it('reading reports the age of an entry by the clock of Redis', async () => {
    await feed.redis.xadd(feed.stream, '1000-1', 'order', 'long ago')
    await feed.add('now')
    const [old, young] = (await stream.read()).entries
    const [seconds] = await feed.redis.time()
    expect(Math.abs((old?.ageMs ?? 0) - (Number(seconds) * 1000 - 1_000))).toBeLessThan(60_000)
    expect(young?.ageMs).toBeLessThan(60_000)
  })
})

describe('claiming pending entries', () => {
  it.each(['writer', 'another-consumer'])(
    'claiming returns the pending entries of a consumer named %s',
    async (consumer) => {
      await feed.add('one', 'two', 'three')
      const taken = await feed.takeAs(consumer, 2)
      await stream.claimPending()
      const { entries } = await stream.read()
      expect(idsOf(entries).slice(0, 2)).toEqual(taken)
      expect(entries).toHaveLength(3)
      await stream.acknowledge(idsOf(entries))
      expect(await feed.pending()).toBe(0)
    },
  )

  it('claiming returns any number of pending entries', async () => {
    await feed.add(...Array.from({ length: 2_500 }, (_, n) => String(n)))
    for (const consumer of ['one', 'two', 'three']) await feed.takeAs(consumer, 1_000)
    await stream.claimPending()
    expect(await drain(stream)).toEqual([500, 500, 500, 500, 500])
    expect(await feed.pending()).toBe(0)
  })

  it('claiming reports trimmed entries once', async () => {
    await feed.add('one', 'two')
    const taken = await feed.takeAs('another-consumer', 2)
    await feed.redis.xdel(feed.stream, taken[0] ?? '')
    const lost = [...(await stream.claimPending())]
    const reading = await stream.read()
    lost.push(...reading.lost) // An older Redis reports it only here.
    await stream.acknowledge(lost.map(({ id }) => id))
    expect(lost).toEqual([{ id: taken[0], count: 1 }])
    expect(idsOf(reading.entries)).toEqual(taken.slice(1))
    expect(await feed.pending()).toBe(1)
  })
})

describe('a trimmed entry', () => {
  it('an entry trimmed before its acknowledgement is reported as lost', async () => {
    const ids = await feed.add('one', 'two')
    await stream.read()
    await feed.redis.xdel(feed.stream, ids[0] ?? '')
    const { entries, lost } = await stream.read()
    expect(lost).toEqual([{ id: ids[0], count: 1 }])
    expect(idsOf(entries)).toEqual(ids.slice(1))
  })
})

describe('entries trimmed before their delivery', () => {
  it.each([
    ['after', ['one']],
    ['before', []],
  ])(
    'they are counted once %s the first delivery, and the backlog is that of the entries that are left',
    async (_when, delivered) => {
      await feed.add(...delivered)
      await drain(stream)
      const ids = await feed.add(...Array.from({ length: 200 }, (_, n) => String(n)))
      await feed.redis.xtrim(feed.stream, 'MAXLEN', 20)
      expect(await stream.backlog()).toBe(20)
      const { entries, lost } = await stream.read()
      expect(lost).toEqual([{ id: `up to ${ids[180]}`, count: 180 }])
      expect(idsOf(entries)).toEqual(ids.slice(180))
      await stream.acknowledge([...lost.map(({ id }) => id), ...idsOf(entries)])
      expect((await stream.read()).lost).toEqual([])
      expect([await stream.backlog(), await feed.backlog()]).toEqual([0, 0])
    },
  )

  it('they are counted where none is left', async () => {
    const pending = await feed.add('one')
    await stream.read()
    const ids = await feed.add('two', 'three')
    await feed.redis.xdel(feed.stream, ...ids)
    expect(await stream.backlog()).toBe(1)
    const { entries, lost } = await stream.read()
    expect([idsOf(entries), lost]).toEqual([pending, [{ id: `up to ${ids[1]}`, count: 2 }]])
    await feed.add('four')
    expect((await stream.read()).lost).toEqual([])
    expect([await stream.backlog(), await feed.backlog()]).toEqual([2, 2])
  })

  it('entries trimmed after their delivery, or before the group existed, are not', async () => {
    await feed.add('one', 'two', 'three')
    await feed.redis.xtrim(feed.stream, 'MAXLEN', 1)
    expect((await stream.read()).lost).toEqual([])
    await drain(stream)
    await feed.redis.xtrim(feed.stream, 'MAXLEN', 0)
    const ids = await feed.add('four')
    const { entries, lost } = await stream.read()
    expect([idsOf(entries), lost]).toEqual([ids, []])
  })
})

describe('the dead-letter stream', () => {
  const error = { path: '/items/0', reason: 'expected an object, got a list' }

  it('a dead letter keeps every field of an entry without an order', async () => {
    await feed.addFields('data', 'x', 'more', 'y')
    const { entries } = await stream.read()
    await stream.deadLetter(entries.map((entry) => ({ ...entry, error })))
    const [deadLetter] = (await feed.redis.xrange(feed.deadLetterStream, '-', '+')).map(
      ([, fields]) => fields,
    )
    expect(deadLetter?.slice(6)).toEqual(['data', 'x', 'more', 'y'])
  })

  it('a dead letter can have ten thousand fields', async () => {
    await feed.addFields(...Array.from({ length: 20_000 }, (_, n) => `f${n}`))
    const { entries } = await stream.read()
    await stream.deadLetter(entries.map((entry) => ({ ...entry, error })))
    expect(await feed.deadLetters()).toHaveLength(1)
    expect(await feed.pending()).toBe(0)
  })

  it('a failed dead-letter write leaves the entry pending', async () => {
    await feed.redis.set(feed.deadLetterStream, 'no stream')
    const ids = await feed.add('one')
    const { entries } = await stream.read()
    const parking = stream.deadLetter(entries.map((entry) => ({ ...entry, error })))
    await expect(parking).rejects.toThrow('WRONGTYPE')
    expect(idsOf((await stream.read()).entries)).toEqual(ids)
  })
})

describe('trimming', () => {
  const left = async () => (await feed.redis.xrange(feed.stream, '-', '+')).map(([id]) => id)

  it('trimming keeps the last delivered entry and new entries', async () => {
    const ids = await feed.add('one', 'two', 'three')
    await drain(stream)
    const more = await feed.add('four')
    await stream.trim()
    expect(await left()).toEqual([...ids.slice(2), ...more])
  })

  it('trimming keeps pending entries and all later ones', async () => {
    const ids = await feed.add('one', 'two', 'three')
    await stream.read()
    await stream.acknowledge([ids[0] ?? '', ids[2] ?? ''])
    await stream.trim()
    expect(await left()).toEqual(ids.slice(1))
  })

  it('trimming keeps entries that another group has not read', async () => {
    await feed.redis.xgroup('CREATE', feed.stream, 'others', '0', 'MKSTREAM')
    const ids = await feed.add('one', 'two', 'three')
    await drain(stream)
    await stream.trim()
    expect(await left()).toEqual(ids)
  })

  it('trimming keeps entries that are pending in another group', async () => {
    await feed.redis.xgroup('CREATE', feed.stream, 'others', '0', 'MKSTREAM')
    const ids = await feed.add('one', 'two', 'three')
    await drain(stream)
    await feed.redis.xreadgroup(
      ...(['GROUP', 'others', 'x', 'COUNT', 3, 'STREAMS', feed.stream, '>'] as const),
    )
    await feed.redis.xack(feed.stream, 'others', ids[0] ?? '')
    await stream.trim()
    expect(await left()).toEqual(ids.slice(1))
  })

  it('trimming compares entry ids as numbers', async () => {
    for (const id of ['9-9', '9-10', '10-1']) {
      await feed.redis.xadd(feed.stream, id, 'order', id)
    }
    await stream.read()
    await stream.acknowledge(['9-9', '10-1'])
    await stream.trim()
    expect(await left()).toEqual(['9-10', '10-1'])
  })

  it('trimming a missing stream, or one without groups, does nothing', async () => {
    await stream.trim()
    const ids = await feed.add('one')
    await stream.trim()
    expect(await left()).toEqual(ids)
  })
})

describe('the backlog', () => {
  it('the backlog counts correctly after deletions', async () => {
    await feed.add('one')
    await drain(stream)
    const ids = await feed.add('two', 'three', 'four')
    await feed.redis.xdel(feed.stream, ids[1] ?? '')
    expect(await stream.backlog()).toBeGreaterThanOrEqual(2)
    await drain(stream)
    expect(await stream.backlog()).toBe(0)
  })
})

it('the stream returns entries unchanged and in order', async () => {
  const orders = [Buffer.from('one'), NOT_UTF8, Buffer.from('three\r')]
  await stream.append(orders)
  expect((await stream.read()).entries.map(({ order }) => order)).toEqual(orders)
})

it('the stream continues after Redis loses its scripts', async () => {
  await feed.add('one')
  await drain(stream)
  await feed.redis.script('FLUSH')
  const ids = await feed.add('two')
  expect(idsOf((await stream.read()).entries)).toEqual(ids)
})

it('a key of another type is reported without its content', async () => {
  await feed.redis.set(feed.stream, 'secret')
  const error = await stream.append([Buffer.from('of a buyer')]).catch((thrown) => thrown)
  expect(String(error)).toContain('WRONGTYPE')
  expect(JSON.stringify(error) + error.stack).not.toMatch(/secret|buyer/)
})
