import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { WebhookStores } from '../../../src/webhooks/webhook-stores.ts'
import type { WebhookStoresUnderTest } from '../../support/webhooks/stores/stores-under-test.ts'
import { useWebhookStores } from './webhook-stores-under-test.ts'

/** Enough for every implementation to see whether a lease is renewed. */
const OBSERVATION_MS = 10_000

describe.each(useWebhookStores())('the lease of the dispatcher on %s', (_name, open) => {
  let stores: WebhookStoresUnderTest
  let delays: string[]
  let stopping: AbortController
  beforeEach(async () => {
    stores = await open()
    delays = []
    stopping = new AbortController()
  })
  afterEach(() => stores.close())

  const acquire = (from: WebhookStores = stores) =>
    from.acquireLease({ onDelay: (reason) => delays.push(reason), signal: stopping.signal })

  it('is held at once where no other process delivers, until it is released', async () => {
    const lease = await acquire()
    expect(lease.isHeld()).toBe(true)
    expect(delays).toEqual([])
    await lease.release()
    expect(lease.isHeld()).toBe(false)
    await lease.release()
  })

  it('has no holder before the first', async () => {
    expect(await stores.dispatcher(OBSERVATION_MS)).toBeNull()
  })

  it('shows its holder to every process, also after the release', async () => {
    const other = await stores.openAgain()
    const lease = await acquire()
    const status = await other.dispatcher(OBSERVATION_MS)
    expect(status).toEqual({ holder: expect.stringContaining(`${process.pid}`), alive: true })
    expect(await stores.dispatcher(OBSERVATION_MS)).toEqual(status)
    await lease.release()
    expect(await other.dispatcher(OBSERVATION_MS)).toEqual({ ...status, alive: false })
    expect(await stores.dispatcher(OBSERVATION_MS)).toEqual({ ...status, alive: false })
  })

  it('stays with its holder while its status is read', async () => {
    const other = await stores.openAgain()
    const lease = await acquire()
    for (let n = 0; n < 3; n += 1) await other.dispatcher(OBSERVATION_MS)
    expect(lease.isHeld()).toBe(true)
    const waiting = acquire(other)
    await expect.poll(() => delays).toHaveLength(1)
    stopping.abort()
    await expect(waiting).rejects.toThrow()
    await lease.release()
  })

  it('passes to a process that waits, which reports the holder once', async () => {
    const other = await stores.openAgain()
    const first = await acquire()
    const waiting = acquire(other)
    await expect.poll(() => delays).toHaveLength(1)
    const { holder } = (await other.dispatcher(OBSERVATION_MS)) ?? {}
    expect(delays[0]).toContain(holder)
    await first.release()
    const second = await waiting
    expect([first.isHeld(), second.isHeld()]).toEqual([false, true])
    expect(await stores.dispatcher(OBSERVATION_MS)).toMatchObject({ alive: true })
    expect(delays).toHaveLength(1)
    await second.release()
  })

  it('is not passed to a process whose wait was ended', async () => {
    const other = await stores.openAgain()
    const first = await acquire()
    const waiting = acquire(other)
    await expect.poll(() => delays).toHaveLength(1)
    stopping.abort()
    await expect(waiting).rejects.toThrow('interrupted while')
    expect(first.isHeld()).toBe(true)
    await first.release()
    stopping = new AbortController()
    const third = await acquire(other)
    expect(third.isHeld()).toBe(true)
    await third.release()
  })

  it('is held by one of several processes at any time', async () => {
    const contenders = [stores, await stores.openAgain(), await stores.openAgain()]
    let holders = 0
    await Promise.all(
      contenders.map(async (contender) => {
        const lease = await acquire(contender)
        holders += 1
        await new Promise(setImmediate)
        expect([holders, lease.isHeld()]).toEqual([1, true])
        holders -= 1
        await lease.release()
      }),
    )
  })
})
