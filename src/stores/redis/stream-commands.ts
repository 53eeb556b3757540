import { setTimeout as pause } from 'node:timers/promises'
import type { Cluster, Redis } from 'ioredis'
import { Unavailable } from '../../lib/unavailable.ts'
import { redactCommand } from './client.ts'
import type { Script } from './scripts.ts'

/** What is said to a Redis that may be away, and whose answer counts. */
export interface StreamCommands {
  /**
   * @throws Unavailable when there is no answer, which tells nothing of what was done, or Redis cannot do
   * it now; Error when it refuses
   */
  send<T>(command: (redis: Redis | Cluster) => Promise<T>): Promise<T>
  /** Runs a script; texts of the answer come as buffers. @throws as `send` */
  run(script: Script, keys: readonly string[], ...args: Argument[]): Promise<unknown>
}

export type Argument = string | number | Buffer

/** What passes by itself, or once an operator has seen to it: the change is there then as it is now. */
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
]

export interface StreamCommandsOptions {
  redis: Redis | Cluster
  /** For each answer. */
  deadlineMs: number
  /** Called when an answer is late. */
  onTimeout?(): void
  /** Why there is no connection, where that is known. */
  reason(): string | undefined
}

export function createStreamCommands({
  redis,
  deadlineMs,
  onTimeout = () => {},
  reason,
}: StreamCommandsOptions): StreamCommands {
  async function send<T>(command: (redis: Redis | Cluster) => Promise<T>): Promise<T> {
    const finished = new AbortController()
    const timeout = pause(deadlineMs, undefined, { signal: finished.signal }).then(() => {
      onTimeout()
      throw new Unavailable(`Redis did not answer within ${deadlineMs} ms`)
    })
    try {
      return await Promise.race([command(redis), timeout])
    } catch (error) {
      throw toStoreError(error, redis.status === 'ready' ? undefined : reason())
    } finally {
      timeout.catch(() => {})
      finished.abort()
    }
  }

  return {
    send,
    async run({ lua, sha1 }, keys, ...args) {
      const rest = [keys.length, ...keys, ...args] as const
      try {
        return await send((redis) => redis.callBuffer('EVALSHA', sha1, ...rest))
      } catch (error) {
        // A restarted Redis has forgotten its scripts; nothing has run yet, so it is safe to say it again.
        if (!(error instanceof Error && error.message.includes('NOSCRIPT'))) throw error
        return await send((redis) => redis.callBuffer('EVAL', lua, ...rest))
      }
    },
  }
}

function toStoreError(error: unknown, reason: string | undefined): Error {
  if (error instanceof Unavailable) return error
  const { message } = redactCommand(error)
  const isReply = error instanceof Error && error.name === 'ReplyError'
  if (!isReply) return new Unavailable(`no answer from Redis: ${reason ?? message}`)
  const isTransient = TRANSIENT_ERRORS.some((code) => message.startsWith(code))
  return isTransient
    ? new Unavailable(`Redis answered ${message}`)
    : new Error(`Redis refused: ${message}`)
}
