import type { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import { createSendCommand } from '../../../../src/stores/redis/stream-commands.ts'

/** Fails as a command whose reply is this error. */
function fail(reply: string): Promise<unknown> {
  const redis = { status: 'ready' } as Redis
  const send = createSendCommand({ redis, deadlineMs: 1_000, reason: () => undefined })
  const error = Object.assign(new Error(reply), { name: 'ReplyError' })
  return send(() => Promise.reject(error))
}

const IN_SCRIPT = 'ERR Error running script (call to f_6b1bf486c81ceb7edf3c): @user_script'

describe('a command of the change stream', () => {
  it.each([
    'OOM command not allowed when used memory > maxmemory.',
    'MISCONF Redis is configured to save RDB snapshots',
    `${IN_SCRIPT}: 9: -OOM command not allowed when used memory > maxmemory.`,
    `${IN_SCRIPT}:9: MISCONF Redis is configured to save RDB snapshots`,
  ])('can be repeated after the reply %s', async (reply) => {
    await expect(fail(reply)).rejects.toBeInstanceOf(Unavailable)
  })

  it.each([
    'WRONGTYPE Operation against a key holding the wrong kind of value',
    `${IN_SCRIPT}:9: WRONGTYPE Operation against a key that says: OOM command`,
  ])('is rejected for good by the reply %s', async (reply) => {
    await expect(fail(reply)).rejects.not.toBeInstanceOf(Unavailable)
  })
})
