import { beforeEach, describe, expect, it } from 'vitest'
import {
  createKeyCache,
  type KeyCache,
  type KeyLookupOutcome,
} from '../../../src/auth/key-cache.ts'
import type { KeyRecord, KeyWithAccount } from '../../../src/auth/key-store.ts'
import { Unavailable } from '../../../src/lib/unavailable.ts'
import { keyRecord } from '../../support/stores/key-record.ts'

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS

const keyWithAccount = (
  changes: Partial<KeyRecord> = {},
  accountBlocked = false,
): KeyWithAccount => ({
  key: keyRecord(changes),
  accountBlocked,
})

const DOWN = new Unavailable('the store is down')

let nowMs: number
let stored: Map<string, KeyWithAccount>
let isDown: boolean
let reads: number
let outcomes: KeyLookupOutcome[]
let cache: KeyCache

beforeEach(() => {
  nowMs = 1_000_000
  stored = new Map([['d1', keyWithAccount()]])
  isDown = false
  reads = 0
  outcomes = []
  const find = async (digest: string) => {
    reads++
    if (isDown) throw DOWN
    return stored.get(digest) ?? null
  }
  cache = createKeyCache(
    { find },
    () => nowMs,
    (result) => outcomes.push(result),
  )
})

describe('a key cache', () => {
  it('answers with what the store has', async () => {
    expect(await cache.find('d1')).toEqual(keyWithAccount())
  })

  it('answers null for a key that the store does not know', async () => {
    expect(await cache.find('d2')).toBeNull()
  })

  it('asks the store once for an entry that is fresh', async () => {
    await cache.find('d1')
    nowMs += 5 * SECOND_MS - 1
    await cache.find('d1')
    expect(reads).toBe(1)
  })

  it.each([
    ['revocation', keyWithAccount({ revokedAt: 1 })],
    ['block of the account', keyWithAccount({}, true)],
  ])('shows a %s after 5 seconds', async (_name, changed) => {
    await cache.find('d1')
    stored.set('d1', changed)
    nowMs += 5 * SECOND_MS
    expect(await cache.find('d1')).toEqual(changed)
  })

  it('counts the age of an entry from before the store was asked', async () => {
    const slow = createKeyCache(
      {
        find: async () => {
          const answer = keyWithAccount({ lastValidAt: nowMs })
          nowMs += 4 * SECOND_MS
          return answer
        },
      },
      () => nowMs,
    )
    const first = await slow.find('d1')
    nowMs += SECOND_MS
    expect(await slow.find('d1')).not.toEqual(first)
  })

  it('gives a look-up the time of the request that began it, and its answer to all that wait', async () => {
    const timeouts: (number | undefined)[] = []
    const found = Promise.withResolvers<KeyWithAccount>()
    const slow = createKeyCache(
      {
        find(_digest, withinMs) {
          timeouts.push(withinMs)
          return found.promise
        },
      },
      () => nowMs,
    )
    const waiting = [slow.find('d1', 700), slow.find('d1', 900)]
    found.resolve(keyWithAccount())
    expect(await Promise.all(waiting)).toEqual([keyWithAccount(), keyWithAccount()])
    expect(timeouts).toEqual([700])
  })

  it('does not grow older by being asked', async () => {
    await cache.find('d1')
    stored.set('d1', keyWithAccount({ revokedAt: 1 }))
    for (let second = 0; second < 5; second++) {
      nowMs += SECOND_MS
      await cache.find('d1')
    }
    expect(await cache.find('d1')).toEqual(keyWithAccount({ revokedAt: 1 }))
  })

  it('finds a new key at once, though it was asked for before', async () => {
    await cache.find('d2')
    stored.set('d2', keyWithAccount({ digest: 'd2' }))
    expect(await cache.find('d2')).toEqual(keyWithAccount({ digest: 'd2' }))
  })

  it('forgets a key that the store no longer has', async () => {
    await cache.find('d1')
    stored.clear()
    nowMs += 5 * SECOND_MS
    expect(await cache.find('d1')).toBeNull()
    isDown = true
    await expect(cache.find('d1')).rejects.toBe(DOWN)
  })

  it('goes on serving an entry for 10 minutes while the store is down', async () => {
    await cache.find('d1')
    isDown = true
    nowMs += 10 * MINUTE_MS - 1
    expect(await cache.find('d1')).toEqual(keyWithAccount())
  })

  it('throws what the store throws once an entry is 10 minutes old', async () => {
    await cache.find('d1')
    isDown = true
    nowMs += 10 * MINUTE_MS
    await expect(cache.find('d1')).rejects.toBe(DOWN)
  })

  it('throws what the store throws for a key that was not seen before', async () => {
    isDown = true
    await expect(cache.find('d1')).rejects.toBe(DOWN)
  })

  it('tells all requests that wait for a key of the failure, and asks again for the next', async () => {
    isDown = true
    const waiting = Array.from({ length: 20 }, () => cache.find('d1'))
    const outcomes = await Promise.allSettled(waiting)
    expect(outcomes).toEqual(waiting.map(() => ({ status: 'rejected', reason: DOWN })))
    expect(reads).toBe(1)
    isDown = false
    expect(await cache.find('d1')).toEqual(keyWithAccount())
  })

  it('asks a store that is down every 5 seconds, and answers in between at once', async () => {
    await cache.find('d1')
    isDown = true
    nowMs += MINUTE_MS
    reads = 0
    await cache.find('d1')
    nowMs += 5 * SECOND_MS - 1
    await cache.find('d1')
    expect(reads).toBe(1)
    nowMs += 1
    await cache.find('d1')
    expect(reads).toBe(2)
  })

  it('serves nothing that is 10 minutes old, not even between two attempts', async () => {
    await cache.find('d1')
    isDown = true
    nowMs += 10 * MINUTE_MS - 1
    await cache.find('d1')
    nowMs += 1
    await expect(cache.find('d1')).rejects.toBe(DOWN)
  })

  it('shows a revocation within 5 seconds of the store being back', async () => {
    await cache.find('d1')
    isDown = true
    nowMs += MINUTE_MS
    await cache.find('d1')
    isDown = false
    stored.set('d1', keyWithAccount({ revokedAt: 1 }))
    nowMs += 5 * SECOND_MS
    expect(await cache.find('d1')).toEqual(keyWithAccount({ revokedAt: 1 }))
  })

  it('asks the store once for all requests that wait for the same key', async () => {
    const found = await Promise.all(Array.from({ length: 20 }, () => cache.find('d1')))
    expect(found).toEqual(Array.from({ length: 20 }, () => keyWithAccount()))
    expect(reads).toBe(1)
  })
})

describe('what a key cache tells', () => {
  it('a miss for a key that it asks the store for, and a hit while that is fresh', async () => {
    await cache.find('d1')
    nowMs += 5 * SECOND_MS - 1
    await cache.find('d1')
    nowMs += 1
    await cache.find('d1')
    expect(outcomes).toEqual(['miss', 'hit', 'miss'])
  })

  it('a miss for a key that nobody has', async () => {
    await cache.find('d2')
    await cache.find('d2')
    expect(outcomes).toEqual(['miss', 'miss'])
  })

  it('a stale one for every answer of its own while the store is down, also between two attempts', async () => {
    await cache.find('d1')
    isDown = true
    nowMs += 5 * SECOND_MS
    await cache.find('d1')
    nowMs += 1
    await cache.find('d1')
    expect(outcomes).toEqual(['miss', 'stale', 'stale'])
  })

  it('a miss where the store is down and the entry is too old, or there is none', async () => {
    await cache.find('d1')
    isDown = true
    nowMs += 10 * MINUTE_MS
    await cache.find('d1').catch(() => {})
    await cache.find('d2').catch(() => {})
    expect(outcomes).toEqual(['miss', 'miss', 'miss'])
  })
})
