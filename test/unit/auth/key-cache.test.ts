import { beforeEach, describe, expect, it } from 'vitest'
import {
  createKeyCache,
  type KeyCache,
  type KeyLookupOutcome,
} from '../../../src/auth/key-cache.ts'
import type { KeyRecord, KeyWithAccount } from '../../../src/auth/key-store.ts'
import { MINUTE_MS, SECOND_MS } from '../../../src/lib/durations.ts'
import { Unavailable } from '../../../src/lib/errors/unavailable.ts'
import { keyRecord } from '../../support/stores/key-record.ts'

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
  it('returns the key that the store returns', async () => {
    expect(await cache.find('d1')).toEqual(keyWithAccount())
  })

  it('returns null for a key that is not in the store', async () => {
    expect(await cache.find('d2')).toBeNull()
  })

  it('queries the store once while the entry is fresh', async () => {
    await cache.find('d1')
    nowMs += 5 * SECOND_MS - 1
    await cache.find('d1')
    expect(reads).toBe(1)
  })

  it.each([
    ['revocation', keyWithAccount({ revokedAt: 1 })],
    ['block of the account', keyWithAccount({}, true)],
  ])('returns a %s key after 5 seconds', async (_name, changed) => {
    await cache.find('d1')
    stored.set('d1', changed)
    nowMs += 5 * SECOND_MS
    expect(await cache.find('d1')).toEqual(changed)
  })

  it('measures the age of an entry from before the query of the store', async () => {
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

  it('shares one query, with the timeout of its first request, among concurrent requests', async () => {
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

  it('a key cache does not extend the freshness of an entry on a hit', async () => {
    await cache.find('d1')
    stored.set('d1', keyWithAccount({ revokedAt: 1 }))
    for (let second = 0; second < 5; second++) {
      nowMs += SECOND_MS
      await cache.find('d1')
    }
    expect(await cache.find('d1')).toEqual(keyWithAccount({ revokedAt: 1 }))
  })

  it('finds a new key immediately after a lookup that missed it', async () => {
    await cache.find('d2')
    stored.set('d2', keyWithAccount({ digest: 'd2' }))
    expect(await cache.find('d2')).toEqual(keyWithAccount({ digest: 'd2' }))
  })

  it('drops a key that was removed from the store', async () => {
    await cache.find('d1')
    stored.clear()
    nowMs += 5 * SECOND_MS
    expect(await cache.find('d1')).toBeNull()
    isDown = true
    await expect(cache.find('d1')).rejects.toBe(DOWN)
  })

  it('serves a stale entry for 10 minutes while the store is unavailable', async () => {
    await cache.find('d1')
    isDown = true
    nowMs += 10 * MINUTE_MS - 1
    expect(await cache.find('d1')).toEqual(keyWithAccount())
  })

  it('throws the error of the store once an entry is 10 minutes old', async () => {
    await cache.find('d1')
    isDown = true
    nowMs += 10 * MINUTE_MS
    await expect(cache.find('d1')).rejects.toBe(DOWN)
  })

  it('throws the error of the store for an unknown key', async () => {
    isDown = true
    await expect(cache.find('d1')).rejects.toBe(DOWN)
  })

  it('rejects all waiting requests after a failure, and queries again for the next one', async () => {
    isDown = true
    const waiting = Array.from({ length: 20 }, () => cache.find('d1'))
    const outcomes = await Promise.allSettled(waiting)
    expect(outcomes).toEqual(waiting.map(() => ({ status: 'rejected', reason: DOWN })))
    expect(reads).toBe(1)
    isDown = false
    expect(await cache.find('d1')).toEqual(keyWithAccount())
  })

  it('queries a failed store every 5 seconds, and serves stale entries in between', async () => {
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

  it('serves no entry older than 10 minutes, not even between two queries', async () => {
    await cache.find('d1')
    isDown = true
    nowMs += 10 * MINUTE_MS - 1
    await cache.find('d1')
    nowMs += 1
    await expect(cache.find('d1')).rejects.toBe(DOWN)
  })

  it('returns a revocation within 5 seconds after the store recovers', async () => {
    await cache.find('d1')
    isDown = true
    nowMs += MINUTE_MS
    await cache.find('d1')
    isDown = false
    stored.set('d1', keyWithAccount({ revokedAt: 1 }))
    nowMs += 5 * SECOND_MS
    expect(await cache.find('d1')).toEqual(keyWithAccount({ revokedAt: 1 }))
  })

  it('queries the store once for concurrent requests of the same key', async () => {
    const found = await Promise.all(Array.from({ length: 20 }, () => cache.find('d1')))
    expect(found).toEqual(Array.from({ length: 20 }, () => keyWithAccount()))
    expect(reads).toBe(1)
  })
})

describe('the lookup outcome of the key cache', () => {
  it('the lookup outcome of the key cache is a miss for a key read from the store, then a hit while it is fresh', async () => {
    await cache.find('d1')
    nowMs += 5 * SECOND_MS - 1
    await cache.find('d1')
    nowMs += 1
    await cache.find('d1')
    expect(outcomes).toEqual(['miss', 'hit', 'miss'])
  })

  it('the lookup outcome of the key cache is a miss for a key that does not exist', async () => {
    await cache.find('d2')
    await cache.find('d2')
    expect(outcomes).toEqual(['miss', 'miss'])
  })

  it('the lookup outcome of the key cache is stale for every entry served while the store is unavailable', async () => {
    await cache.find('d1')
    isDown = true
    nowMs += 5 * SECOND_MS
    await cache.find('d1')
    nowMs += 1
    await cache.find('d1')
    expect(outcomes).toEqual(['miss', 'stale', 'stale'])
  })

  it('the lookup outcome of the key cache is a miss when the store fails and no usable entry exists', async () => {
    await cache.find('d1')
    isDown = true
    nowMs += 10 * MINUTE_MS
    await cache.find('d1').catch(() => {})
    await cache.find('d2').catch(() => {})
    expect(outcomes).toEqual(['miss', 'miss', 'miss'])
  })
})
