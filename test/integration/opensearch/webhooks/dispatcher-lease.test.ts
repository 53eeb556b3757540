import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import type { WebhookStores } from '../../../../src/webhooks/webhook-stores.ts'
import { opensearch } from '../../../support/stores/backend.ts'
import { DISPATCHER_LEASE_MS } from '../../../support/webhooks/stores/opensearch-webhooks.ts'
import { useOpenSearchWebhooks } from '../../../support/webhooks/stores/use-opensearch-webhooks.ts'

const test = useOpenSearchWebhooks()
/** Enough for a process to see whether a lease is renewed. */
const OBSERVATION_MS = 10_000
const WAIT = { timeout: 60_000 }

const document = () => `${test.prefix}writer/_doc/webhooks-0`

interface LeaseSource {
  holder: string
  released: boolean
  lease_ms: number
}

async function stored(): Promise<{ _seq_no: number; _source: LeaseSource }> {
  return opensearch('GET', document())
}

/** Replaces the lease as a process does that took it over. */
const replace = (lease: object) => opensearch('PUT', document(), lease)

function acquire(stores: WebhookStores, delays: string[] = [], signal = AbortSignal.any([])) {
  return stores.acquireLease({ onDelay: (reason) => delays.push(reason), signal })
}

describe('the lease of the dispatcher on OpenSearch', () => {
  it('is a document beside that of the writer, which the holder renews', async () => {
    const lease = await acquire(test.stores)
    const { _seq_no, _source } = await stored()
    expect(_source).toMatchObject({ released: false, lease_ms: DISPATCHER_LEASE_MS })
    await vi.waitFor(async () => expect((await stored())._seq_no).toBeGreaterThan(_seq_no), WAIT)
    await expect.poll(() => lease.isHeld()).toBe(true)
    await lease.release()
    expect((await stored())._source).toEqual({ ..._source, released: true })
  })

  it('passes from a dead process after its whole duration, which the wait names', async () => {
    await replace({ holder: 'host 1 dead', released: false, lease_ms: 1_500 })
    const delays: string[] = []
    expect(await test.stores.dispatcher(OBSERVATION_MS)).toEqual({
      holder: 'host 1 dead',
      alive: false,
    })
    const lease = await acquire(test.stores, delays)
    expect(delays).toEqual([
      'waiting for another dispatcher to end (host 1 dead); the lease of a dead dispatcher expires in 2 s',
    ])
    expect((await stored())._source.holder).not.toBe('host 1 dead')
    await lease.release()
  })

  it('passes by the monotonic clock of the process that waits', async () => {
    await replace({ holder: 'host 1 dead', released: false, lease_ms: 1_000 })
    let now = 7_000
    let isPassed = false
    const stores = await test.stores.openAgain({ monotonic: () => now })
    const delays: string[] = []
    const waiting = acquire(stores, delays).then((lease) => {
      isPassed = true
      return lease
    })
    await vi.waitFor(() => expect(delays).toHaveLength(1), WAIT)
    now += 999
    await pause(200) // Several reads of the document.
    expect(isPassed).toBe(false)
    now += 1
    await (await waiting).release()
  })

  it('is held for its duration since the last confirmed renewal, by the monotonic clock', async () => {
    let now = 5_000
    const stores = await test.stores.openAgain({ leaseMs: 60_000, monotonic: () => now })
    const lease = await acquire(stores)
    now += 59_999
    expect(lease.isHeld()).toBe(true)
    now += 1
    expect(lease.isHeld()).toBe(false)
    await lease.release()
  })

  it('is lost when another process took it over, and then is not released', async () => {
    const lease = await acquire(test.stores)
    const other = { holder: 'host 2 other', released: false, lease_ms: 1_000 }
    await replace(other)
    await vi.waitFor(() => expect(lease.isHeld()).toBe(false), WAIT)
    await lease.release()
    expect((await stored())._source).toEqual(other)
  })

  it('is not lost when an earlier renewal arrived after its timeout', async () => {
    const lease = await acquire(test.stores)
    const { _source } = await stored()
    await replace(_source)
    const { _seq_no } = await stored()
    await vi.waitFor(async () => expect((await stored())._seq_no).toBeGreaterThan(_seq_no), WAIT)
    await expect.poll(() => lease.isHeld()).toBe(true)
    await lease.release()
    expect((await stored())._source).toMatchObject({ holder: _source.holder, released: true })
  })

  it('is not acquired from a damaged document, which the error names', async () => {
    await replace({ holder: 'host 3', released: false })
    await expect(acquire(test.stores)).rejects.toThrow('the lease document webhooks-0 is damaged')
  })
})
