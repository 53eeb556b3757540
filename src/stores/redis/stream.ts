import type { ChangeStream } from '../../indexing/sources/change-stream.ts'
import {
  connectStream,
  GROUP,
  type RedisStreamOptions,
  type StreamConnection,
} from './stream-connection.ts'
import { type BatchReply, parkedFields, readingOf } from './stream-entries.ts'
import { adoptPage, backlog, park, readBatch, trim } from './stream-scripts.ts'

/** All writers are one reader to Redis: there is one at a time, and what is pending is the next one's. */
const CONSUMER = 'writer'

const MAX_ENTRIES = 500
const MAX_BYTES = 4 * 1024 * 1024
/** How long a reading waits for something new. The connection is silent as long. */
const WAIT_MS = 500

/** The changes in Redis, which need not be there yet: then every call says so. */
export async function openRedisStream(options: RedisStreamOptions): Promise<ChangeStream> {
  const connection = await connectStream(options)
  const { probe, stream, close } = connection
  return {
    ...createRedisStream({ ...connection, isCluster: options.urls.length > 1 }),
    async ping() {
      await probe.send((redis) => redis.exists(stream))
    },
    async backlog() {
      return Number(await probe.run(backlog, [stream], GROUP))
    },
    close,
  }
}

interface Options extends Pick<StreamConnection, 'commands' | 'stream' | 'refused'> {
  /** Then the two streams may be of different nodes. */
  isCluster: boolean
}

function createRedisStream({
  commands: { send, run },
  stream,
  refused,
  isCluster,
}: Options): Omit<ChangeStream, 'ping' | 'backlog' | 'close'> {
  /** The group is made when it is missed: at first, and when somebody emptied Redis. */
  async function inGroup<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Error && NO_GROUP.test(error.message))) throw error
      // From the beginning of the stream: what was written already counts as older.
      await send((redis) => redis.xgroup('CREATE', stream, GROUP, '0', 'MKSTREAM')).catch(isThere)
      return await work()
    }
  }

  const readNow = async () => {
    const args = [GROUP, CONSUMER, MAX_ENTRIES, MAX_BYTES]
    return readingOf((await run(readBatch, [stream], ...args)) as BatchReply)
  }

  /** Waits for something new. It counts as delivered then, so that reading begins with it. */
  const wait = () =>
    send((redis) =>
      redis.xreadgroup(
        ...(['GROUP', GROUP, CONSUMER, 'COUNT', 1, 'BLOCK', WAIT_MS, 'STREAMS'] as const),
        stream,
        '>',
      ),
    )

  return {
    adopt: () =>
      inGroup(async () => {
        const gone: string[] = []
        for (let from = FIRST_PAGE; ; ) {
          const reply = await run(adoptPage, [stream], GROUP, CONSUMER, from)
          const [next, deleted] = reply as [Buffer, Buffer[]]
          gone.push(...deleted.map(String))
          from = String(next)
          if (from === FIRST_PAGE) return gone
        }
      }),

    read: () =>
      inGroup(async () => {
        const reading = await readNow()
        if (reading.entries.length + reading.lost.length > 0) return reading
        return (await wait()) === null ? reading : await readNow()
      }),

    async acknowledge(ids) {
      if (ids.length > 0) await send((redis) => redis.xack(stream, GROUP, ...ids))
    },

    async park(entries) {
      for (const entry of entries) {
        const fields = parkedFields(entry)
        if (isCluster) {
          // No step can be of two nodes: a crash in between parks it twice, rather than never.
          await send((redis) => redis.xadd(refused, '*', ...fields))
          await send((redis) => redis.xack(stream, GROUP, entry.id))
        } else {
          await inGroup(() => run(park, [stream, refused], GROUP, entry.id, ...fields))
        }
      }
    },

    async trim() {
      await run(trim, [stream])
    },

    async append(orders) {
      await send((redis) =>
        Promise.all(orders.map((order) => redis.xadd(stream, '*', 'order', order))),
      )
    },
  }
}

/** Also what a reading ends with that waited when the stream went away. */
const NO_GROUP = /NOGROUP|UNBLOCKED/
const FIRST_PAGE = '0-0'

function isThere(error: Error): void {
  if (!error.message.includes('BUSYGROUP')) throw error
}
