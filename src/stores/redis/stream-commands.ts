import type { Cluster, Redis } from 'ioredis'
import { withDeadline } from '../../lib/async/with-deadline.ts'
import { Unavailable } from '../../lib/errors/unavailable.ts'
import { redactCommand } from './client.ts'

/**
 * Sends a command to the Redis of the change stream, which may be unavailable.
 * @throws Unavailable when Redis does not respond in time, with the effect unknown, or reports a
 *   transient error; Error when Redis rejects the command
 */
export type SendCommand = <T>(command: (redis: Redis | Cluster) => Promise<T>) => Promise<T>

/**
 * Errors that end by themselves or by an operator's action; the command can be retried afterwards.
 */
const TRANSIENT_ERRORS = [
  'LOADING',
  'BUSY',
  'READONLY',
  'MASTERDOWN',
  'CLUSTERDOWN',
  'TRYAGAIN',
  'NOREPLICAS',
  'MISCONF',
  'OOM',
  'UNBLOCKED', // Such as by a change of the role of Redis, during a blocking read.
]

export interface SendCommandOptions {
  redis: Redis | Cluster
  /** Maximum duration of one command. */
  deadlineMs: number
  /** Called when a command exceeds `deadlineMs`. */
  onTimeout?(): void
  /** The last connection error, if there was one. */
  reason(): string | undefined
}

/** Creates {@link SendCommand}. */
export function createSendCommand({
  redis,
  deadlineMs,
  onTimeout = () => {},
  reason,
}: SendCommandOptions): SendCommand {
  function timedOut(): Unavailable {
    onTimeout()
    return new Unavailable(`Redis did not respond within ${deadlineMs} ms`)
  }

  return async (command) => {
    try {
      return await withDeadline(() => command(redis), deadlineMs, timedOut)
    } catch (error) {
      throw toStoreError(error, redis.status === 'ready' ? undefined : reason())
    }
  }
}

function toStoreError(error: unknown, reason: string | undefined): Error {
  if (error instanceof Unavailable) return error
  const { message } = redactCommand(error)
  const isReply = error instanceof Error && error.name === 'ReplyError'
  if (!isReply) return new Unavailable(`no response from Redis: ${reason ?? message}`)
  // Redis 6 puts the error of a command in a script behind a text of its own.
  const reply = message.replace(/^ERR Error running script .*?: -?(?=[A-Z]+ )/, '')
  const isTransient = TRANSIENT_ERRORS.some((code) => reply.startsWith(code))
  return isTransient
    ? new Unavailable(`Redis is temporarily unable to run the command: ${message}`)
    : new Error(`Redis rejected the command: ${message}`)
}
