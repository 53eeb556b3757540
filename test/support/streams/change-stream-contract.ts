import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ChangeStream } from '../../../src/indexing/sources/change-stream.ts'
import type { DeadLetter, FeedEntry } from './change-feed.ts'
import { drain, idsOf } from './drain.ts'

const MIB = 1024 * 1024
const NOT_UTF8 = Buffer.from([0x7b, 0xff, 0xfe, 0x00, 0x7d])
const error = { path: '/items/0', reason: 'expected an object, got a list' }

/** A stream of one test. */
export interface StreamUnderTest {
  /** Opens the stream as another process would. */
  open(): Promise<ChangeStream>
  add(...orders: readonly FeedEntry[]): Promise<string[]>
  deadLetters(): Promise<DeadLetter[]>
  /** The number of unacknowledged entries, by the stream itself. */
  unacknowledged(): Promise<number>
  close(): Promise<void>
}

/** What every change stream does; the order of entries is that of one partition. */
export function describeChangeStream(name: string, create: () => Promise<StreamUnderTest>): void {
  let test: StreamUnderTest
  let stream: ChangeStream
  let opened: ChangeStream[]
  beforeEach(async () => {
    opened = []
    test = await create()
    stream = await open()
  })
  afterEach(async () => {
    for (const one of opened) one.close()
    await test.close()
  })

  /** A stream that claimed what other consumers left, as a new writer does. */
  async function open(): Promise<ChangeStream> {
    const one = await test.open()
    opened.push(one)
    await one.claimPending()
    return one
  }

  describe(`a change stream in ${name}`, () => {
    it('returns the bytes, the ids and the ages of entries', async () => {
      const ids = await test.add('one', NOT_UTF8)
      const { entries, lost } = await stream.read()
      expect([idsOf(entries), lost]).toEqual([ids, []])
      expect(entries.map(({ order }) => order)).toEqual([Buffer.from('one'), NOT_UTF8])
      for (const { ageMs } of entries) expect(ageMs).toBeLessThan(60_000)
    })

    it('returns unacknowledged entries before new ones', async () => {
      const ids = await test.add('one', 'two')
      expect(idsOf((await stream.read()).entries)).toEqual(ids)
      ids.push(...(await test.add('three')))
      expect(idsOf((await stream.read()).entries)).toEqual(expect.arrayContaining(ids.slice(0, 2)))
      await stream.acknowledge(ids.slice(0, 2))
      expect(idsOf((await stream.read()).entries)).toEqual(ids.slice(2))
    })

    it('the age of an entry that is read again includes the time since its first read', async () => {
      await test.add('one')
      const [first] = (await stream.read()).entries
      await pause(300)
      const [again] = (await stream.read()).entries
      expect((again?.ageMs ?? 0) - (first?.ageMs ?? 0)).toBeGreaterThan(250)
    })

    it('returns an entry that is appended during a read', async () => {
      expect(await drain(stream)).toEqual([])
      const reading = stream.read()
      const ids = await test.add('one')
      const { entries } = await reading
      expect(idsOf(entries.length > 0 ? entries : (await stream.read()).entries)).toEqual(ids)
    })

    it('returns at most 500 entries, or somewhat more than 4 MiB', async () => {
      await stream.append(Array.from({ length: 1_001 }, (_, n) => Buffer.from(String(n))))
      expect(await drain(stream)).toEqual([500, 500, 1])
      await test.add(...Array.from({ length: 12 }, () => Buffer.alloc(MIB - 1024, 'x')))
      const sizes = await drain(stream)
      expect(Math.max(...sizes)).toBeLessThanOrEqual(8)
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(12)
    })

    it('the next process receives what the last one did not acknowledge', async () => {
      const ids = await test.add('one', 'two', 'three')
      await stream.read()
      await stream.acknowledge(ids.slice(0, 1))
      const next = await open()
      expect(idsOf((await next.read()).entries)).toEqual(ids.slice(1))
    })

    it('an entry acknowledged after an unacknowledged one hides neither', async () => {
      const ids = await test.add('one', 'two', 'three')
      await stream.read()
      await stream.acknowledge(ids.slice(1, 2))
      expect(idsOf((await stream.read()).entries)).toEqual([ids[0], ids[2]])
      const next = await open()
      expect(idsOf((await next.read()).entries)).toContain(ids[0])
    })

    it('acknowledged entries are not delivered again', async () => {
      await test.add('one', 'two')
      expect(await drain(stream)).toEqual([2])
      expect((await (await open()).read()).entries).toEqual([])
    })

    it('a dead letter keeps the bytes, path, reason and id, and is acknowledged', async () => {
      const [id = ''] = await test.add(NOT_UTF8)
      const { entries } = await stream.read()
      await stream.deadLetter(entries.map((entry) => ({ ...entry, error })))
      expect(await test.deadLetters()).toMatchObject([{ order: NOT_UTF8, ...error, entry_id: id }])
      expect(await test.unacknowledged()).toBe(0)
    })

    it('two dead-letter calls for an entry write it once', async () => {
      await test.add('one')
      const { entries } = await stream.read()
      const deadLetters = entries.map((entry) => ({ ...entry, error }))
      await stream.deadLetter(deadLetters)
      await stream.deadLetter(deadLetters)
      expect(await test.deadLetters()).toHaveLength(1)
    })

    it('the backlog counts undelivered and unacknowledged entries', async () => {
      expect(await stream.backlog()).toBe(0)
      const ids = await test.add('one', 'two')
      expect(await stream.backlog()).toBe(2)
      await stream.read()
      await test.add('three')
      expect(await stream.backlog()).toBe(3)
      await stream.acknowledge(ids)
      expect(await stream.backlog()).toBe(1)
      await drain(stream)
      expect(await stream.backlog()).toBe(0)
    })

    it('appended orders are returned unchanged', async () => {
      const orders = [Buffer.from('one'), NOT_UTF8, Buffer.from('three\r')]
      await stream.append(orders)
      const { entries } = await stream.read()
      expect(entries).toHaveLength(3)
      expect(new Set(entries.map(({ order }) => String(order)))).toEqual(
        new Set(orders.map(String)),
      )
    })

    it('trimming removes no unacknowledged entry', async () => {
      const ids = await test.add('one', 'two')
      await stream.read()
      await stream.acknowledge(ids.slice(0, 1))
      await stream.trim()
      expect(idsOf((await (await open()).read()).entries)).toEqual(ids.slice(1))
    })

    it('responds to a ping', async () => {
      await expect(stream.ping()).resolves.toBeUndefined()
    })
  })
}
