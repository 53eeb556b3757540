import { Redis } from 'ioredis'
import { expect, vi } from 'vitest'

/** The content of an entry: a value as JSON, or raw bytes. */
export type FeedEntry = object | string | Buffer

export interface DeadLetter {
  order: Buffer | undefined
  path: string
  reason: string
  entry_id: string
}

/** The platform's side of the change stream, and an operator's view of it. */
export interface ChangeFeed {
  redis: Redis
  stream: string
  deadLetterStream: string
  /** Appends source orders, one entry each, and returns their ids. */
  add(...orders: readonly FeedEntry[]): Promise<string[]>
  /** Appends an entry with any fields. */
  addFields(...fields: readonly (string | Buffer)[]): Promise<string>
  /** Reads new entries as a consumer of this name, leaves them pending, and returns their ids. */
  takeAs(consumer: string, count: number): Promise<string[]>
  /** The number of delivered and unacknowledged entries; 0 without a group. */
  pending(): Promise<number>
  /** The number of unprocessed entries. */
  backlog(): Promise<number>
  /** Waits until no entry is unprocessed. */
  allProcessed(): Promise<void>
  deadLetters(): Promise<DeadLetter[]>
  /** Removes the streams. */
  close(): Promise<void>
}

/** The streams of a backend, or of any Redis and prefix. */
export function openChangeFeed(env: NodeJS.ProcessEnv): ChangeFeed {
  const redis = new Redis(env['STREAM_REDIS_URL'] ?? env['REDIS_URL'] ?? '')
  const prefix = env['REDIS_PREFIX'] ?? ''
  const stream = `${prefix}orders:changes`
  const deadLetterStream = `${prefix}orders:refused`

  /** A property of the group; `undefined` without one. */
  async function groupFact(name: string): Promise<number | undefined> {
    const groups = (await redis.xinfo('GROUPS', stream).catch(() => [])) as unknown[][]
    const facts = groups.find((all) => all[all.indexOf('name') + 1] === 'indexer')
    return facts && Number(facts[facts.indexOf(name) + 1])
  }

  async function backlog(): Promise<number> {
    const lag = await groupFact('lag')
    if (lag === undefined) return redis.xlen(stream)
    return lag + ((await groupFact('pending')) ?? 0)
  }

  return {
    redis,
    stream,
    deadLetterStream,
    async add(...orders) {
      const added = orders.map((order) => redis.xadd(stream, '*', 'order', bytesOf(order)))
      return (await Promise.all(added)).map(String)
    },
    async addFields(...fields) {
      return String(await redis.xadd(stream, '*', ...fields))
    },
    async takeAs(consumer, count) {
      await redis.xgroup('CREATE', stream, 'indexer', '0', 'MKSTREAM').catch(() => {})
      const reply = (await redis.xreadgroup(
        ...(['GROUP', 'indexer', consumer, 'COUNT', count, 'STREAMS', stream, '>'] as const),
      )) as [string, [string, string[]][]][] | null
      return (reply?.[0]?.[1] ?? []).map(([id]) => id)
    },
    pending: async () => (await groupFact('pending')) ?? 0,
    backlog,
    allProcessed: () =>
      vi.waitFor(async () => expect(await backlog()).toBe(0), { timeout: 60_000, interval: 50 }),
    async deadLetters() {
      const entries = await redis.callBuffer('XRANGE', deadLetterStream, '-', '+')
      return (entries as [Buffer, Buffer[]][]).map(([, fields]) => deadLetterOf(fields))
    },
    async close() {
      await redis.del(stream, deadLetterStream)
      redis.disconnect()
    },
  }
}

export function bytesOf(order: FeedEntry): string | Buffer {
  return typeof order === 'string' || Buffer.isBuffer(order) ? order : JSON.stringify(order)
}

function deadLetterOf(fields: readonly Buffer[]): DeadLetter {
  const values = new Map<string, Buffer | undefined>()
  for (let at = 0; at < fields.length; at += 2) values.set(String(fields[at]), fields[at + 1])
  const text = (name: string) => String(values.get(name))
  return {
    order: values.get('order'),
    path: text('path'),
    reason: text('reason'),
    entry_id: text('entry_id'),
  }
}
