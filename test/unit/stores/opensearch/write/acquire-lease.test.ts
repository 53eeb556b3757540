import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Unavailable } from '../../../../../src/lib/unavailable.ts'
import {
  type AcquireOptions,
  acquireLease,
} from '../../../../../src/stores/opensearch/write/acquire-lease.ts'
import type { Lease } from '../../../../../src/stores/opensearch/write/lease.ts'
import {
  createMemoryLeaseDocument,
  createMemoryStoreClock,
  createRecordingFence,
  LONG_LEASE_MS,
  leaseRecord,
  type MemoryLeaseDocument,
} from './memory-lease.ts'

/** So short that a standby looks every millisecond. */
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

type Given = Pick<AcquireOptions, 'fence' | 'leaseMs' | 'purpose' | 'signal'>

async function acquire(
  document: MemoryLeaseDocument,
  {
    fence = createRecordingFence(),
    leaseMs = LONG_LEASE_MS,
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
    maxWriteTimestamp: async () => greatestStamp,
    firstTarget: 'orders-v1',
    onDelay: (reason) => waited.push(reason),
    signal,
  })
  held.push(lease)
  return lease
}

/** A document whose holder is at work, or was. */
const heldDocument = () => createMemoryLeaseDocument(leaseRecord({ lease_ms: HOLDERS_LEASE_MS }))

/** Lets a standby look some more times. */
async function looks(document: MemoryLeaseDocument): Promise<void> {
  const before = document.reads
  await vi.waitUntil(() => document.reads > before + 3, { timeout: 5_000, interval: 1 })
}

describe('the first writer of all', () => {
  it('makes the document, and feeds the first index', async () => {
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

  it('is one of two that start at once, and the other waits for it', async () => {
    const document = createMemoryLeaseDocument()
    const options = { leaseMs: HOLDERS_LEASE_MS }
    const first = Promise.race([acquire(document, options), acquire(document, options)])
    await (await first).release()
    await vi.waitUntil(() => held.length === 2)
    expect(document.record()).toMatchObject({ epoch: 2, released: false })
  })
})

describe('a lease that was handed back', () => {
  it('is taken at once, of the next epoch and for the same indices', async () => {
    const targets = ['orders-v1', 'orders-v2']
    const document = createMemoryLeaseDocument(leaseRecord({ released: true, targets }))
    const fence = createRecordingFence()
    const lease = await acquire(document, { fence })
    expect(fence.raised).toMatchObject([{ epoch: 8, targets, released: false }])
    expect([lease.epoch(), waited]).toEqual([8, []])
  })

  it('keeps its ceiling until its new holder has confirmed another one', async () => {
    const document = createMemoryLeaseDocument(leaseRecord({ released: true }))
    await acquire(document)
    expect(document.written[1]).toMatchObject({ stamp_ceiling: 5_000, epoch: 8 })
  })

  it('gets a holder unlike any other', async () => {
    const document = createMemoryLeaseDocument()
    for (let time = 0; time < 5; time++) await (await acquire(document)).release()
    const holders = new Set(document.written.map(({ holder }) => holder))
    expect(holders.size).toBe(5)
  })
})

describe('a lease that was not handed back', () => {
  it('is taken after a whole lease of its holder in which nobody renewed it', async () => {
    const document = heldDocument()
    let isTaken = false
    const acquiring = acquire(document).then((lease) => {
      isTaken = true
      return lease
    })
    await looks(document)
    monotonicMs += HOLDERS_LEASE_MS - 1
    await looks(document)
    expect(isTaken).toBe(false)
    monotonicMs += 1
    expect((await acquiring).epoch()).toBe(8)
  })

  it('has its holder and the time told once to whom waits', async () => {
    const document = heldDocument()
    const acquiring = acquire(document)
    await looks(document)
    document.put(leaseRecord({ lease_ms: HOLDERS_LEASE_MS }))
    await looks(document)
    monotonicMs += HOLDERS_LEASE_MS
    await acquiring
    const seconds = Math.ceil(HOLDERS_LEASE_MS / 1000)
    expect(waited).toEqual([
      `waiting for another writer to end (the writer before); the lease of a dead writer expires in ${seconds} s`,
    ])
  })

  it('is waited for a whole lease anew whenever it is renewed, whatever was in it', async () => {
    const document = heldDocument()
    const acquiring = acquire(document)
    for (let renewals = 0; renewals < 3; renewals++) {
      await looks(document)
      monotonicMs += HOLDERS_LEASE_MS - 1
      document.put(leaseRecord({ lease_ms: HOLDERS_LEASE_MS }))
    }
    await looks(document)
    expect(document.record()?.holder).toBe('the writer before')
    monotonicMs += HOLDERS_LEASE_MS
    expect((await acquiring).epoch()).toBe(8)
  })

  it('is waited for as long as its holder set last', async () => {
    const document = heldDocument()
    const acquiring = acquire(document)
    await looks(document)
    document.put(leaseRecord({ lease_ms: 2 * HOLDERS_LEASE_MS }))
    await looks(document)
    monotonicMs += HOLDERS_LEASE_MS
    await looks(document)
    expect(document.record()?.holder).toBe('the writer before')
    monotonicMs += HOLDERS_LEASE_MS
    await acquiring
  })

  it('goes to one of two that wait, and then to the other', async () => {
    const document = heldDocument()
    const options = { leaseMs: HOLDERS_LEASE_MS }
    const first = Promise.race([acquire(document, options), acquire(document, options)])
    await looks(document)
    monotonicMs += HOLDERS_LEASE_MS
    const lease = await first
    expect(lease.epoch()).toBe(8)
    await lease.release()
    await vi.waitUntil(() => held.length === 2)
    expect(document.record()).toMatchObject({ epoch: 9, released: false })
  })

  it('is waited for on when its holder renews it in the last moment', async () => {
    const document = heldDocument()
    const { replace } = document
    document.replace = (known, record) => {
      document.replace = replace
      document.put(leaseRecord({ lease_ms: HOLDERS_LEASE_MS }))
      return replace(known, record)
    }
    const acquiring = acquire(document)
    await looks(document)
    monotonicMs += HOLDERS_LEASE_MS
    await looks(document)
    expect(document.record()?.holder).toBe('the writer before')
    monotonicMs += HOLDERS_LEASE_MS
    expect((await acquiring).epoch()).toBe(8)
  })

  it('is not waited for any longer than its caller likes', async () => {
    const document = heldDocument()
    const interruption = new AbortController()
    const acquiring = acquire(document, { signal: interruption.signal })
    const ended = expect(acquiring).rejects.toThrow('interrupted while another writer was at work')
    await looks(document)
    interruption.abort()
    await ended
    monotonicMs += HOLDERS_LEASE_MS
    expect(document.record()?.holder).toBe('the writer before')
  })

  it('is not waited for at all by whom was interrupted before', async () => {
    const acquiring = acquire(heldDocument(), { signal: AbortSignal.abort() })
    await expect(acquiring).rejects.toThrow('interrupted')
  })

  it('is taken at once when it is handed back meanwhile', async () => {
    const document = heldDocument()
    const acquiring = acquire(document)
    await looks(document)
    document.put(leaseRecord({ released: true, stamp_ceiling: 6_000 }))
    const lease = await acquiring
    expect(await lease.nextWriteTimestamp()).toBe(6_001)
  })
})

describe('a taking over whose answer was lost', () => {
  it('leaves a lease that nobody renews, and that runs out', async () => {
    const document = createMemoryLeaseDocument(leaseRecord({ released: true }))
    document.loseResponses('arrived')
    const lost = acquire(document, { leaseMs: HOLDERS_LEASE_MS })
    await expect(lost).rejects.toThrow(Unavailable)
    expect(document.record()).toMatchObject({ epoch: 8, released: false })

    const acquiring = acquire(document)
    await looks(document)
    monotonicMs += HOLDERS_LEASE_MS
    expect((await acquiring).epoch()).toBe(9)
  })

  it('leaves the lease as it was when it did not arrive', async () => {
    const document = createMemoryLeaseDocument(leaseRecord({ released: true }))
    document.loseResponses('did not arrive')
    await expect(acquire(document)).rejects.toThrow(Unavailable)
    expect((await acquire(document)).epoch()).toBe(8)
  })
})

describe('beside a watch', () => {
  const watched = () =>
    createMemoryLeaseDocument(leaseRecord({ purpose: 'watch', lease_ms: HOLDERS_LEASE_MS }))
  const renewed = () => leaseRecord({ purpose: 'watch', lease_ms: HOLDERS_LEASE_MS })

  it('a load is refused once the watch shows that it is at work, and told what to do', async () => {
    const document = watched()
    const acquiring = acquire(document)
    acquiring.catch(() => {}) // Awaited below.
    await looks(document)
    document.put(renewed())
    await expect(acquiring).rejects.toThrow('"index load --stream"')
    expect(document.record()).toEqual(renewed())
  })

  it('a load takes the place of one that is gone', async () => {
    const document = watched()
    const acquiring = acquire(document)
    await looks(document)
    monotonicMs += HOLDERS_LEASE_MS
    expect((await acquiring).epoch()).toBe(8)
  })

  it('a second watch stands by', async () => {
    const document = watched()
    const acquiring = acquire(document, { purpose: 'watch' })
    await looks(document)
    document.put(renewed())
    await looks(document)
    document.put({ ...renewed(), released: true })
    expect((await acquiring).epoch()).toBe(8)
  })
})

describe('the clock of the store', () => {
  const released = (ceiling: number) =>
    createMemoryLeaseDocument(leaseRecord({ released: true, stamp_ceiling: ceiling }))

  it('keeps a writer whose clock is more than 5 s ahead of it from the lease, and says both', async () => {
    const document = released(1_000)
    clockMs = 7_001
    await expect(acquire(document)).rejects.toThrow(
      /^nothing was written: the clock of this machine \(1970-01-01T00:00:07.001Z\) is 5 s ahead of the clock of OpenSearch \(1970-01-01T00:00:02.000Z\); at most 5 s are allowed\. Set the clock .* right/,
    )
    expect(document.written).toHaveLength(1)
    clockMs = 7_000
    expect(await (await acquire(document)).nextWriteTimestamp()).toBe(7_000)
  })

  it('keeps every writer from a lease whose stamps are more than 5 s ahead, and says by how much', async () => {
    const document = released(62_000)
    await expect(acquire(document)).rejects.toThrow(
      /1970-01-01T00:01:02.000Z\) are 60 s ahead of .*"Stamps ahead of the clock"/,
    )
    expect(document.written).toHaveLength(1)
  })

  it('lets a writer go on from stamps that are less than 5 s ahead', async () => {
    expect(await (await acquire(released(6_999))).nextWriteTimestamp()).toBe(7_000)
  })

  it('is read before the lease is taken', async () => {
    storeClock.read = async () => {
      throw new Unavailable('no node told its time')
    }
    const document = released(1_000)
    await expect(acquire(document)).rejects.toThrow('no node told its time')
    expect(document.written).toHaveLength(1)
  })
})

describe('a lease whose document is gone', () => {
  it('begins above the greatest stamp in the index', async () => {
    greatestStamp = 5_500
    expect(await (await acquire(createMemoryLeaseDocument())).nextWriteTimestamp()).toBe(5_501)
  })

  it('is not begun where that is more than 5 s ahead of the clock of the store', async () => {
    greatestStamp = 62_000
    await expect(acquire(createMemoryLeaseDocument())).rejects.toThrow('60 s ahead')
  })
})

describe('that a writer stamped live', () => {
  it('is known of no writer before the first', async () => {
    expect((await acquire(createMemoryLeaseDocument())).hasLiveWrites()).toBe(false)
  })

  it('is recorded once, before it returns, and kept by the release and every successor', async () => {
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
