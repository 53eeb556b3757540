import {
  type ChangeStream,
  type LostEntries,
  READ_LIMITS,
} from '../../indexing/sources/change-stream.ts'
import {
  connectStream,
  GROUP,
  type RedisStreamOptions,
  type StreamConnection,
} from './stream-connection.ts'
import { deadLetterFields, isEntryId, lostEntry, parseBatch } from './stream-entries.ts'
import { persistenceWarning } from './stream-persistence.ts'

/** All writers share one consumer: one writer runs at a time, and inherits the pending entries. */
const CONSUMER = 'writer'

/** How long a read waits for new entries. It blocks the connection meanwhile. */
const BLOCK_MS = 500

export interface OpenRedisStreamOptions extends RedisStreamOptions {
  /** Receives what an operator should correct, although the stream works. */
  onWarning?: ((warning: string) => void) | undefined
}

/** Opens the change stream. While Redis is unavailable, every call rejects. */
export async function openRedisStream({
  onWarning,
  ...options
}: OpenRedisStreamOptions): Promise<ChangeStream> {
  const connection = await connectStream(options)
  const { probe, stream, close } = connection
  if (onWarning !== undefined) {
    const warning = await persistenceWarning(connection)
    if (warning !== null) onWarning(warning)
  }
  return {
    ...createRedisStream({ ...connection, isCluster: options.urls.length > 1 }),
    async ping() {
      await probe((redis) => redis.exists(stream))
    },
    async backlog() {
      return await probe((redis) => redis.streamBacklog(stream, GROUP))
    },
    close,
  }
}

interface Options extends Pick<StreamConnection, 'send' | 'stream' | 'deadLetterStream'> {
  /** In a cluster the two streams may be on different nodes. */
  isCluster: boolean
}

function createRedisStream({
  send,
  stream,
  deadLetterStream,
  isCluster,
}: Options): Omit<ChangeStream, 'ping' | 'backlog' | 'close'> {
  let hadGroup = false
  /** Not reported yet. */
  let isStreamLost = false

  /** Creates a missing group and retries: on first use, and after Redis lost its data. */
  async function withGroup<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await work()
      hadGroup = true
      return result
    } catch (error) {
      if (!(error instanceof Error && MISSING_GROUP.test(error.message))) throw error
      isStreamLost ||= hadGroup
      hadGroup = false
      await send((redis) => redis.createGroup(stream, GROUP)).catch(ignoreExistingGroup)
      return await work()
    }
  }

  const readNow = async () => {
    const args = [stream, GROUP, CONSUMER, READ_LIMITS.entries, READ_LIMITS.bytes] as const
    return parseBatch(await send((redis) => redis.readBatchBuffer(...args)))
  }

  /** Waits for a new entry, which becomes pending, so that the next `readNow` returns it first. */
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
          const args = [stream, GROUP, CONSUMER, from] as const
          const [next, deleted] = await send((redis) => redis.claimPendingPage(...args))
          deletedIds.push(...deleted)
          if (next === FIRST_PAGE) return deletedIds.map(lostEntry)
          from = next
        }
      }),

    async read() {
      const { entries, lost } = await withGroup(async () => {
        const batch = await readNow()
        if (batch.entries.length + batch.lost.length > 0) return batch
        return (await wait()) === null ? batch : await readNow()
      })
      if (!isStreamLost) return { entries, lost }
      isStreamLost = false
      return { entries, lost: [...lost, LOST_STREAM] }
    },

    async acknowledge(ids) {
      const delivered = ids.filter(isEntryId)
      if (delivered.length > 0) await send((redis) => redis.xack(stream, GROUP, ...delivered))
    },

    async deadLetter(entries) {
      for (const entry of entries) {
        const fields = deadLetterFields(entry)
        if (isCluster) {
          // No atomic step spans two nodes. A crash in between duplicates the dead letter.
          await send((redis) => redis.addDeadLetter(deadLetterStream, GROUP, ...fields))
          await send((redis) => redis.xack(stream, GROUP, entry.id))
        } else {
          await withGroup(() =>
            send((redis) =>
              redis.deadLetterEntry(stream, deadLetterStream, GROUP, entry.id, ...fields),
            ),
          )
        }
      }
    },

    async trim() {
      await send((redis) => redis.trimStream(stream))
    },

    async append(orders) {
      await send((redis) =>
        Promise.all(orders.map((order) => redis.xadd(stream, '*', 'order', order))),
      )
      return new Map()
    },
  }
}

/** How many entries it had is unknown. */
const LOST_STREAM: LostEntries = { id: 'all that Redis had: it lost the stream', count: 1 }
/** The second ends a blocking read whose stream was deleted, before Redis 7.2. */
const MISSING_GROUP = /NOGROUP|stream key no longer exists/
const FIRST_PAGE = '0-0'

function ignoreExistingGroup(error: Error): void {
  if (!error.message.includes('BUSYGROUP')) throw error
}
