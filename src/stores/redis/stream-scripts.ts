import type { Cluster, Redis, Result } from 'ioredis'
import { ADD_DEAD_LETTER, DEAD_LETTER_ENTRY } from './stream-lua/dead-letters.ts'
import { CREATE_GROUP, PERSISTENCE_INFO, STREAM_BACKLOG, TRIM_STREAM } from './stream-lua/groups.ts'
import { CLAIM_PENDING_PAGE, READ_BATCH } from './stream-lua/reading.ts'

/**
 * The reply of the script `readBatch`. A deleted entry has no fields. `undelivered` counts the
 * entries removed before their delivery, and names an id that none of them exceeds.
 */
export type BatchReply = [
  clock: [Buffer, Buffer],
  entries: [id: Buffer, fields: Buffer[] | null][],
  undelivered: [count: number, upTo: Buffer],
]

export type Argument = string | number | Buffer

// The `Buffer` variants return strings as buffers: the bytes of an order are not decoded.
declare module 'ioredis' {
  interface RedisCommander<Context> {
    readBatchBuffer(
      stream: string,
      group: string,
      consumer: string,
      maxEntries: number,
      maxBytes: number,
    ): Result<BatchReply, Context>
    /** Fails with BUSYGROUP for an existing group. */
    createGroup(stream: string, group: string): Result<string, Context>
    claimPendingPage(
      stream: string,
      group: string,
      consumer: string,
      from: string,
    ): Result<[next: string, deletedIds: string[]], Context>
    deadLetterEntry(
      stream: string,
      deadLetterStream: string,
      group: string,
      id: string,
      ...fields: Argument[]
    ): Result<number, Context>
    addDeadLetter(
      deadLetterStream: string,
      group: string,
      ...fields: Argument[]
    ): Result<string, Context>
    trimStream(stream: string): Result<number, Context>
    streamBacklog(stream: string, group: string): Result<number, Context>
    persistenceInfo(stream: string): Result<string, Context>
  }
}

/** Adds the scripts of the change stream to the client, which resends a script after NOSCRIPT. */
export function defineStreamScripts(redis: Redis | Cluster): void {
  redis.defineCommand('readBatch', { numberOfKeys: 1, lua: READ_BATCH })
  redis.defineCommand('createGroup', { numberOfKeys: 1, lua: CREATE_GROUP })
  redis.defineCommand('claimPendingPage', { numberOfKeys: 1, lua: CLAIM_PENDING_PAGE })
  redis.defineCommand('deadLetterEntry', { numberOfKeys: 2, lua: DEAD_LETTER_ENTRY })
  redis.defineCommand('addDeadLetter', { numberOfKeys: 1, lua: ADD_DEAD_LETTER })
  redis.defineCommand('trimStream', { numberOfKeys: 1, lua: TRIM_STREAM })
  redis.defineCommand('streamBacklog', { numberOfKeys: 1, lua: STREAM_BACKLOG })
  redis.defineCommand('persistenceInfo', { numberOfKeys: 1, lua: PERSISTENCE_INFO })
}
