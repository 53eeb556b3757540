import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../../src/lib/unavailable.ts'
import { createLeaseHolders } from './lease-holders.ts'
import { createMemoryLeaseDocument, LONG_LEASE_MS, leaseRecord } from './memory-lease.ts'

const NOON = Date.parse('2026-03-01T12:00:00Z')
const FAR = NOON + 365 * 86_400_000

const { storeClock, startWriter, end } = createLeaseHolders(FAR)

beforeEach(() => {
  storeClock.clock.nowMs = FAR
})
afterEach(() => end())

describe('the stamp of a bulk', () => {
  it('is the time', async () => {
    const { clock, lease } = await startWriter(createMemoryLeaseDocument(), NOON)
    expect(await lease.nextWriteTimestamp()).toBe(NOON)
    clock.nowMs += 1_500
    expect(await lease.nextWriteTimestamp()).toBe(NOON + 1_500)
  })

  it('is a whole number of milliseconds', async () => {
    const { lease } = await startWriter(createMemoryLeaseDocument(), NOON + 0.9)
    expect(await lease.nextWriteTimestamp()).toBe(NOON)
  })

  it('is one more than the last while the clock stands still, or was set back', async () => {
    const { clock, lease } = await startWriter(createMemoryLeaseDocument(), NOON)
    await lease.nextWriteTimestamp()
    expect(await lease.nextWriteTimestamp()).toBe(NOON + 1)
    clock.nowMs -= 3_600_000
    expect(await lease.nextWriteTimestamp()).toBe(NOON + 2)
  })

  it('is above the ceiling that the writer before left, whatever the clock shows', async () => {
    const document = createMemoryLeaseDocument(leaseRecord({ stamp_ceiling: NOON + 9_000 }))
    const { lease } = await startWriter(document, NOON)
    expect(await lease.nextWriteTimestamp()).toBe(NOON + 9_001)
  })

  it('just after the last one of a writer that handed its lease back is free', async () => {
    const document = createMemoryLeaseDocument()
    const { lease } = await startWriter(document, NOON)
    const last = await lease.nextWriteTimestamp()
    await lease.release()
    const { lease: next } = await startWriter(document, NOON - 1_000)
    expect(await next.nextWriteTimestamp()).toBe(last + 1)
  })

  it('asks the document only where the clock has come to its ceiling', async () => {
    const document = createMemoryLeaseDocument()
    const { clock, lease } = await startWriter(document, NOON)
    const before = document.written.length
    for (let stamp = 0; stamp < 1_000; stamp++) await lease.nextWriteTimestamp()
    expect(document.written).toHaveLength(before)
    clock.nowMs += 2 * LONG_LEASE_MS
    await lease.nextWriteTimestamp()
    expect(document.written).toHaveLength(before + 1)
  })

  it('is the ceiling where the clock has run past it while that was confirmed', async () => {
    const document = createMemoryLeaseDocument()
    const { clock, lease } = await startWriter(document, NOON)
    const { replace } = document
    document.replace = async (known, record) => {
      clock.nowMs += 0.6 * LONG_LEASE_MS // Slow, but within the lease.
      if (document.written.length > 100) throw new Error('it is never given')
      return replace(known, record)
    }
    clock.nowMs += LONG_LEASE_MS
    const stamp = await lease.nextWriteTimestamp()
    expect(stamp).toBe(document.record()?.stamp_ceiling)
    expect(await lease.nextWriteTimestamp()).toBeGreaterThan(stamp)
  })

  it('has a ceiling that never falls while the lease is held, though the clock be set back', async () => {
    const document = createMemoryLeaseDocument()
    const { clock, lease } = await startWriter(document, NOON)
    const before = document.record()?.stamp_ceiling
    clock.nowMs -= 3_600_000
    await lease.fence()
    expect(document.record()?.stamp_ceiling).toBe(before)
  })

  it('is never above the ceiling that was confirmed, nor that far below it that it lasts for ever', async () => {
    const document = createMemoryLeaseDocument()
    const { lease } = await startWriter(document, NOON)
    const ceiling = document.record()?.stamp_ceiling ?? 0
    expect(ceiling).toBeGreaterThan(NOON)
    expect(ceiling).toBeLessThanOrEqual(NOON + LONG_LEASE_MS)
    expect(await lease.nextWriteTimestamp()).toBeLessThanOrEqual(ceiling)
  })
})

describe('a stamp beside the clock of the store', () => {
  beforeEach(() => {
    storeClock.clock.nowMs = NOON
  })

  it('is at most 5 s ahead, and a clock that jumps further stamps nothing', async () => {
    const { clock, lease } = await startWriter(createMemoryLeaseDocument(), NOON)
    clock.nowMs = NOON + 5_000
    expect(await lease.nextWriteTimestamp()).toBe(NOON + 5_000)
    clock.nowMs = NOON + 4 * 365 * 86_400_000
    await expect(lease.nextWriteTimestamp()).rejects.toThrow(
      '126144000 s ahead of the clock of OpenSearch',
    )
  })

  it('goes on once the clock of the writer is right again', async () => {
    const { clock, lease } = await startWriter(createMemoryLeaseDocument(), NOON)
    clock.nowMs = NOON + 60_000
    await expect(lease.nextWriteTimestamp()).rejects.toThrow('60 s ahead')
    clock.nowMs = NOON + 1
    expect(await lease.nextWriteTimestamp()).toBe(NOON + 1)
  })

  it('has a ceiling within what a lease needs of it, however far ahead the clock of the writer is', async () => {
    const document = createMemoryLeaseDocument()
    const { clock, lease } = await startWriter(document, NOON)
    clock.nowMs = NOON + 4 * 365 * 86_400_000
    await lease.fence()
    expect(document.record()?.stamp_ceiling).toBe(NOON + 5_000 + LONG_LEASE_MS / 2)
  })

  it('reads that clock again before it refuses: the machine may have slept', async () => {
    const { clock, lease } = await startWriter(createMemoryLeaseDocument(), NOON)
    clock.nowMs = NOON + 3_600_000
    storeClock.clock.readMs = clock.nowMs
    await expect(lease.nextWriteTimestamp()).resolves.toBeGreaterThan(NOON)
  })

  it('asks nothing where it is not ahead', async () => {
    const { lease } = await startWriter(createMemoryLeaseDocument(), NOON)
    const { reads } = storeClock.clock
    for (let stamp = 0; stamp < 100; stamp++) await lease.nextWriteTimestamp()
    expect(storeClock.clock.reads).toBe(reads)
  })

  it('is unavailable while that clock is set back, since time mends it', async () => {
    const { clock, lease } = await startWriter(createMemoryLeaseDocument(), NOON)
    const last = await lease.nextWriteTimestamp()
    clock.nowMs = NOON - 60_000
    storeClock.clock.nowMs = NOON - 6_000
    await expect(lease.nextWriteTimestamp()).rejects.toThrow(Unavailable)
    storeClock.clock.nowMs = NOON - 4_000
    expect(await lease.nextWriteTimestamp()).toBe(last + 1)
  })
})
