import { connectRedis, RELAXED } from './client.ts'
import { createSendCommand, type SendCommand } from './stream-commands.ts'
import { defineStreamScripts } from './stream-scripts.ts'

export interface RedisStreamOptions {
  /** One node, or several nodes of one Redis Cluster. */
  urls: readonly string[]
  /** PEM of the certificate authorities that replace the default ones. */
  ca: string | undefined
  /** Prefix of the stream names, without braces. */
  prefix: string
}

export interface StreamConnection {
  send: SendCommand
  /** The same with a short deadline, for health checks and metrics. */
  probe: SendCommand
  /** Name of the change stream. */
  stream: string
  /** Name of the stream of rejected changes. */
  deadLetterStream: string
  close(): void
}

/** The consumer group of all writers. */
export const GROUP = 'indexer'

const DEADLINE_MS = 10_000
const PROBE_MS = 2_000

/**
 * Connects to the Redis of the change stream. While Redis is unavailable, every command rejects.
 */
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
  defineStreamScripts(redis)
  const shared = { redis, reason: () => reason }
  return {
    send: createSendCommand({
      ...shared,
      deadlineMs: DEADLINE_MS,
      // A dead TCP connection stays silent for minutes.
      onTimeout: reconnect,
    }),
    probe: createSendCommand({ ...shared, deadlineMs: PROBE_MS }),
    stream: `${prefix}orders:changes`,
    deadLetterStream: `${prefix}orders:refused`,
    close,
  }
}
