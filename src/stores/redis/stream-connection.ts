import { connectRedis, RELAXED } from './client.ts'
import { createStreamCommands, type StreamCommands } from './stream-commands.ts'

export interface RedisStreamOptions {
  /** One node, or several of one Redis Cluster. */
  urls: readonly string[]
  /** PEM of the authorities to trust instead of the usual ones. */
  ca: string | undefined
  /** Goes before the names of the streams; no braces. */
  prefix: string
}

export interface StreamConnection {
  commands: StreamCommands
  /** For a question whose answer counts within a moment only. */
  probe: StreamCommands
  /** Where changes are put in. */
  stream: string
  /** Where refused ones are parked. */
  deadLetterStream: string
  close(): void
}

/** The consumer group of all writers. */
export const GROUP = 'indexer'

const DEADLINE_MS = 10_000
const PROBE_MS = 2_000

/** Connects to the Redis of the stream, which need not be there yet: then every command says so. */
export async function connectStream({
  urls,
  ca,
  prefix,
}: RedisStreamOptions): Promise<StreamConnection> {
  let reason: string | undefined
  const { redis, reconnect, close } = await connectRedis({
    urls,
    ca,
    timeouts: RELAXED,
    onError: ({ message }) => {
      reason = message
    },
  })
  const shared = { redis, reason: () => reason }
  return {
    commands: createStreamCommands({
      ...shared,
      deadlineMs: DEADLINE_MS,
      onTimeout: reconnect, // A connection whose other end is gone says nothing for minutes.
    }),
    probe: createStreamCommands({ ...shared, deadlineMs: PROBE_MS }),
    stream: `${prefix}orders:changes`,
    deadLetterStream: `${prefix}orders:refused`,
    close,
  }
}
