import type { ChangeStream } from '../../indexing/sources/change-stream.ts'
import {
  connectStream,
  GROUP,
  type RedisStreamOptions,
  type StreamConnection,
} from './stream-connection.ts'
import { type BatchReply, deadLetterFields, parseBatch } from './stream-entries.ts'
import { backlog, claimPendingPage, deadLetterEntry, readBatch, trim } from './stream-scripts.ts'

/** All writers are one reader to Redis: there is one at a time, and what is pending is the next one's. */
const CONSUMER = 'writer'

const MAX_ENTRIES = 500
const MAX_BYTES = 4 * 1024 * 1024
/** How long a reading waits for something new. The connection is silent as long. */
const BLOCK_MS = 500

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

interface Options extends Pick<StreamConnection, 'commands' | 'stream' | 'deadLetterStream'> {
  /** Then the two streams may be of different nodes. */
  isCluster: boolean
}

function createRedisStream({
  commands: { send, run },
  stream,
  deadLetterStream,
  isCluster,
}: Options): Omit<ChangeStream, 'ping' | 'backlog' | 'close'> {
  /** The group is made when it is missed: at first, and when somebody emptied Redis. */
  async function withGroup<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Error && MISSING_GROUP.test(error.message))) throw error
      // From the beginning of the stream: what was written already counts as older.
      await send((redis) => redis.xgroup('CREATE', stream, GROUP, '0', 'MKSTREAM')).catch(
        ignoreExistingGroup,
      )
      return await work()
    }
  }

  const readNow = async () => {
    const args = [GROUP, CONSUMER, MAX_ENTRIES, MAX_BYTES]
    return parseBatch((await run(readBatch, [stream], ...args)) as BatchReply)
  }

  /** Waits for something new. It counts as delivered then, so that reading begins with it. */
  const wait = () =>
    send((redis) =>
      redis.xreadgroup(
        ...(['GROUP', GROUP, CONSUMER, 'COUNT', 1, 'BLOCK', BLOCK_MS, 'STREAMS'] as const),
        stream,
        '>',
      ),
    )

  return {
    claimPending: () =>
      withGroup(async () => {
        const deletedIds: string[] = []
        for (let from = FIRST_PAGE; ; ) {
          const reply = await run(claimPendingPage, [stream], GROUP, CONSUMER, from)
          const [next, deleted] = reply as [Buffer, Buffer[]]
          deletedIds.push(...deleted.map(String))
          from = String(next)
          if (from === FIRST_PAGE) return deletedIds
        }
      }),

    read: () =>
      withGroup(async () => {
        const batch = await readNow()
        if (batch.entries.length + batch.lost.length > 0) return batch
        return (await wait()) === null ? batch : await readNow()
      }),

    async acknowledge(ids) {
      if (ids.length > 0) await send((redis) => redis.xack(stream, GROUP, ...ids))
    },

    async deadLetter(entries) {
      for (const entry of entries) {
        const fields = deadLetterFields(entry)
        if (isCluster) {
          // No step can be of two nodes: a crash in between parks it twice, rather than never.
          await send((redis) => redis.xadd(deadLetterStream, '*', ...fields))
          await send((redis) => redis.xack(stream, GROUP, entry.id))
        } else {
          await withGroup(() =>
            run(deadLetterEntry, [stream, deadLetterStream], GROUP, entry.id, ...fields),
          )
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
const MISSING_GROUP = /NOGROUP|UNBLOCKED/
const FIRST_PAGE = '0-0'

function ignoreExistingGroup(error: Error): void {
  if (!error.message.includes('BUSYGROUP')) throw error
}
