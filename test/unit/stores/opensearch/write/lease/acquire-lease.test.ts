import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Unavailable } from '../../../../../../src/lib/errors/unavailable.ts'
import {
  type AcquireOptions,
  acquireLease,
} from '../../../../../../src/stores/opensearch/write/lease/acquire-lease.ts'
import type { Lease } from '../../../../../../src/stores/opensearch/write/lease/lease.ts'
import {
  createMemoryLeaseDocument,
  createMemoryStoreClock,
  createRecordingFence,
  LONG_LEASE_MS,
  leaseRecord,
  type MemoryLeaseDocument,
} from './memory-lease.ts'

/** Short, so that a standby reads the document every millisecond. */
const HOLDERS_LEASE_MS = 20

let monotonicMs: number
let waited: string[]
let clockMs: number
let storeClock: ReturnType<typeof createMemoryStoreClock>
let greatestStamp: number
const held: Lease[] = []

beforeEach(() => {
  monotonicMs = 1_000_000
  waited = []
  clockMs = 1_000
  storeClock = createMemoryStoreClock(2_000)
  greatestStamp = 0
  vi.spyOn(performance, 'now').mockImplementation(() => monotonicMs)
})
afterEach(async () => {
  vi.restoreAllMocks()
  for (const lease of held.splice(0)) await lease.release().catch(() => {})
})

type Given = Pick<AcquireOptions, 'fence' | 'leaseMs' | 'maxWriteTimestamp' | 'purpose' | 'signal'>

async function acquire(
  document: AcquireOptions['document'],
  {
    fence = createRecordingFence(),
    leaseMs = LONG_LEASE_MS,
    maxWriteTimestamp = async () => greatestStamp,
    purpose = 'load',
    signal,
  }: Partial<Given> = {},
) {
  const lease = await acquireLease({
    document,
    fence,
    leaseMs,
    purpose,
    clock: () => clockMs,
    storeClock,
    maxWriteTimestamp,
    firstTarget: async () => 'orders-v1',
    onDelay: (reason) => waited.push(reason),
    signal,
  })
  held.push(lease)
  return lease
}

/** A document whose holder is active, or was. */
const heldDocument = () => createMemoryLeaseDocument(leaseRecord({ lease_ms: HOLDERS_LEASE_MS }))

/** Waits until the standby has read the document a few more times. */
async function standbyReads(document: MemoryLeaseDocument): Promise<void> {
  const before = document.reads
  await expect.poll(() => document.reads, { interval: 1 }).toBeGreaterThan(before + 3)
}

describe('the first writer', () => {
  it('the first writer creates the lease document and writes to the first index', async () => {
    const document = createMemoryLeaseDocument()
    const fence = createRecordingFence()
    const lease = await acquire(document, { fence })
    expect(document.written[0]).toMatchObject({
      epoch: 1,
      released: false,
      lease_ms: LONG_LEASE_MS,
      stamp_ceiling: 0,
      targets: ['orders-v1'],
    })
    expect(fence.raised).toMatchObject([{ epoch: 1, targets: ['orders-v1'] }])
    expect([lease.epoch(), waited]).toEqual([1, []])
  })

  it('one of two writers that start at once acquires the lease, and the other waits', async () => {
    const document = createMemoryLeaseDocument()
    const options = { leaseMs: HOLDERS_LEASE_MS }
    const first = Promise.race([acquire(document, options), acquire(document, options)])
    await (await first).release()
    await expect.poll(() => held).toHaveLength(2)
    expect(document.record()).toMatchObject({ epoch: 2, released: false })
  })
})

describe('indices that another process has just created', () => {
  const noShard = new Unavailable('no shard is available')

  /** Rejects the first call, as long as the shards of a new index have not started. */
  function failOnce<T>(work: () => Promise<T>): () => Promise<T> {
    let calls = 0
    return () => (calls++ === 0 ? Promise.reject(noShard) : work())
  }

  it('the first writer reads the lease and the index again', async () => {
    const document = createMemoryLeaseDocument()
    const read = failOnce(document.read)
    const maxWriteTimestamp = failOnce(async () => 5_500)
    const lease = await acquire({ ...document, read }, { maxWriteTimestamp })
    expect(await lease.nextWriteTimestamp()).toBe(5_501)
  })

  it('the first writer fails with the reason when they stay unavailable', async () => {
    const document = createMemoryLeaseDocument()
    const read = async () => {
      monotonicMs += 5_001
      throw noShard
    }
    await expect(acquire({ ...document, read })).rejects.toThrow(noShard)
    expect(document.written).toEqual([])
  })
})

describe('a released lease', () => {
  it('a released lease is acquired at once, with the next epoch and the same indices', async () => {
    const targets = ['orders-v1', 'orders-v2']
    const document = createMemoryLeaseDocument(leaseRecord({ released: true, targets }))
    const fence = createRecordingFence()
    const lease = await acquire(document, { fence })
    expect(fence.raised).toMatchObject([{ epoch: 8, targets, released: false }])
    expect([lease.epoch(), waited]).toEqual([8, []])
  })

  it('a released lease keeps its ceiling until its new holder has confirmed another one', async () => {
    const document = createMemoryLeaseDocument(leaseRecord({ released: true }))
    await acquire(document)
    expect(document.written[1]).toMatchObject({ stamp_ceiling: 5_000, epoch: 8 })
  })

  it('a released lease gets a unique holder name', async () => {
    const document = createMemoryLeaseDocument()
    for (let time = 0; time < 5; time++) await (await acquire(document)).release()
    const holders = new Set(document.written.map(({ holder }) => holder))
    expect(holders.size).toBe(5)
  })
})

describe('a lease that was not released', () => {
  it('an unreleased lease is acquired after a whole lease duration without a renewal', async () => {
    const document = heldDocument()
    let isAcquired = false
    const acquiring = acquire(document).then((lease) => {
      isAcquired = true
      return lease
    })
    await standbyReads(document)
    monotonicMs += HOLDERS_LEASE_MS - 1
    await standbyReads(document)
    expect(isAcquired).toBe(false)
    monotonicMs += 1
    expect((await acquiring).epoch()).toBe(8)
  })

  it('a standby reports the holder and the remaining time once', async () => {
    const document = heldDocument()
    const acquiring = acquire(document)
    await standbyReads(document)
    document.put(leaseRecord({ lease_ms: HOLDERS_LEASE_MS }))
    await standbyReads(document)
    monotonicMs += HOLDERS_LEASE_MS
    await acquiring
    const seconds = Math.ceil(HOLDERS_LEASE_MS / 1000)
    expect(waited).toEqual([
      `waiting for another writer to end (the writer before); the lease of a dead writer expires in ${seconds} s`,
    ])
  })

  it('a standby restarts its wait at every renewal, whatever the document contained', async () => {
    const document = heldDocument()
    const acquiring = acquire(document)
    for (let renewals = 0; renewals < 3; renewals++) {
      await standbyReads(document)
      monotonicMs += HOLDERS_LEASE_MS - 1
      document.put(leaseRecord({ lease_ms: HOLDERS_LEASE_MS }))
    }
    await standbyReads(document)
    expect(document.record()?.holder).toBe('the writer before')
    monotonicMs += HOLDERS_LEASE_MS
    expect((await acquiring).epoch()).toBe(8)
  })

  it('a standby waits for the duration that the holder set last', async () => {
    const document = heldDocument()
    const acquiring = acquire(document)
    await standbyReads(document)
    document.put(leaseRecord({ lease_ms: 2 * HOLDERS_LEASE_MS }))
    await standbyReads(document)
    monotonicMs += HOLDERS_LEASE_MS
    await standbyReads(document)
    expect(document.record()?.holder).toBe('the writer before')
    monotonicMs += HOLDERS_LEASE_MS
    await acquiring
  })

  it('one of two standbys acquires the lease, then the other', async () => {
    const document = heldDocument()
    const options = { leaseMs: HOLDERS_LEASE_MS }
    const first = Promise.race([acquire(document, options), acquire(document, options)])
    await standbyReads(document)
    monotonicMs += HOLDERS_LEASE_MS
    const lease = await first
    expect(lease.epoch()).toBe(8)
    await lease.release()
    await expect.poll(() => held).toHaveLength(2)
    expect(document.record()).toMatchObject({ epoch: 9, released: false })
  })

  it('a standby keeps waiting when the holder renews at the last moment', async () => {
    const document = heldDocument()
    const { replace } = document
    document.replace = (known, record) => {
      document.replace = replace
      document.put(leaseRecord({ lease_ms: HOLDERS_LEASE_MS }))
      return replace(known, record)
    }
    const acquiring = acquire(document)
    await standbyReads(document)
    monotonicMs += HOLDERS_LEASE_MS
    await standbyReads(document)
    expect(document.record()?.holder).toBe('the writer before')
    monotonicMs += HOLDERS_LEASE_MS
    expect((await acquiring).epoch()).toBe(8)
  })

  it('a standby waits no longer than its caller allows', async () => {
    const document = heldDocument()
    const interruption = new AbortController()
    const acquiring = acquire(document, { signal: interruption.signal })
    const ended = expect(acquiring).rejects.toThrow('interrupted while another writer was at work')
    await standbyReads(document)
    interruption.abort()
    await ended
    monotonicMs += HOLDERS_LEASE_MS
    expect(document.record()?.holder).toBe('the writer before')
  })

  it('a standby that was aborted before does not wait', async () => {
    const acquiring = acquire(heldDocument(), { signal: AbortSignal.abort() })
    await expect(acquiring).rejects.toThrow('interrupted')
  })

  it('a standby acquires the lease at once when it is released meanwhile', async () => {
    const document = heldDocument()
    const acquiring = acquire(document)
    await standbyReads(document)
    document.put(leaseRecord({ released: true, stamp_ceiling: 6_000 }))
    const lease = await acquiring
    expect(await lease.nextWriteTimestamp()).toBe(6_001)
  })
})

describe('an acquisition without a response', () => {
  it('an acquisition whose response was lost leaves a lease that expires', async () => {
    const document = createMemoryLeaseDocument(leaseRecord({ released: true }))
    document.loseResponses('arrived')
    const lost = acquire(document, { leaseMs: HOLDERS_LEASE_MS })
    await expect(lost).rejects.toThrow(Unavailable)
    expect(document.record()).toMatchObject({ epoch: 8, released: false })

    const acquiring = acquire(document)
    await standbyReads(document)
    monotonicMs += HOLDERS_LEASE_MS
    expect((await acquiring).epoch()).toBe(9)
  })

  it('an acquisition that did not arrive leaves the lease unchanged', async () => {
    const document = createMemoryLeaseDocument(leaseRecord({ released: true }))
    document.loseResponses('did not arrive')
    await expect(acquire(document)).rejects.toThrow(Unavailable)
    expect((await acquire(document)).epoch()).toBe(8)
  })
})

describe('a lease of a watch', () => {
  const watched = () =>
    createMemoryLeaseDocument(leaseRecord({ purpose: 'watch', lease_ms: HOLDERS_LEASE_MS }))
  const renewed = () => leaseRecord({ purpose: 'watch', lease_ms: HOLDERS_LEASE_MS })

  it('a load is rejected with a remedy once the watch has renewed its lease', async () => {
    const document = watched()
    const acquiring = acquire(document)
    acquiring.catch(() => {}) // Awaited below.
    await standbyReads(document)
    document.put(renewed())
    await expect(acquiring).rejects.toThrow('"index load --stream"')
    expect(document.record()).toEqual(renewed())
  })

  it('a load replaces a watch that stopped', async () => {
    const document = watched()
    const acquiring = acquire(document)
    await standbyReads(document)
    monotonicMs += HOLDERS_LEASE_MS
    expect((await acquiring).epoch()).toBe(8)
  })

  it('a second watch becomes a standby', async () => {
    const document = watched()
    const acquiring = acquire(document, { purpose: 'watch' })
    await standbyReads(document)
    document.put(renewed())
    await standbyReads(document)
    document.put({ ...renewed(), released: true })
    expect((await acquiring).epoch()).toBe(8)
  })
})

describe('the clock of the store', () => {
  const released = (ceiling: number) =>
    createMemoryLeaseDocument(leaseRecord({ released: true, stamp_ceiling: ceiling }))

  it('a writer whose clock is more than 5 s ahead acquires no lease and reports both times', async () => {
    const document = released(1_000)
    clockMs = 7_001
    await expect(acquire(document)).rejects.toThrow(
      /^nothing was written: the clock of this machine \(1970-01-01T00:00:07.001Z\) is 5 s ahead of the clock of OpenSearch \(1970-01-01T00:00:02.000Z\); at most 5 s are allowed\. Set the clock .* right/,
    )
    expect(document.written).toHaveLength(1)
    clockMs = 7_000
    expect(await (await acquire(document)).nextWriteTimestamp()).toBe(7_000)
  })

  it('a lease whose write timestamps are more than 5 s ahead rejects every writer with the lead', async () => {
    const document = released(62_000)
    await expect(acquire(document)).rejects.toThrow(
      /1970-01-01T00:01:02.000Z\) are 60 s ahead of .*"Write timestamps ahead of the clock"/,
    )
    expect(document.written).toHaveLength(1)
  })

  it('a writer continues from write timestamps that are less than 5 s ahead', async () => {
    expect(await (await acquire(released(6_999))).nextWriteTimestamp()).toBe(7_000)
  })

  it('the clock of the store is read before the lease is acquired', async () => {
    storeClock.read = async () => {
      throw new Unavailable('no node returned its time')
    }
    const document = released(1_000)
    await expect(acquire(document)).rejects.toThrow('no node returned its time')
    expect(document.written).toHaveLength(1)
  })
})

describe('a lease without a document', () => {
  it('a new lease document starts above the greatest write timestamp of the index', async () => {
    greatestStamp = 5_500
    expect(await (await acquire(createMemoryLeaseDocument())).nextWriteTimestamp()).toBe(5_501)
  })

  it('a new lease document is not created when that timestamp is more than 5 s ahead', async () => {
    greatestStamp = 62_000
    await expect(acquire(createMemoryLeaseDocument())).rejects.toThrow('60 s ahead')
  })
})

describe('the record of live writes', () => {
  it('the lease records no live write before the first', async () => {
    expect((await acquire(createMemoryLeaseDocument())).hasLiveWrites()).toBe(false)
  })

  it('the lease records live writes once, and its release and every successor keep the record', async () => {
    const document = createMemoryLeaseDocument()
    const first = await acquire(document)
    const before = document.written.length
    for (let time = 0; time < 2; time++) await first.recordLiveWrites()
    expect(document.record()?.stamped_live).toBe(true)
    expect(document.written).toHaveLength(before + 1)
    await first.release()
    for (let time = 0; time < 2; time++) {
      const next = await acquire(document)
      expect(next.hasLiveWrites()).toBe(true)
      await next.release()
    }
  })
})
