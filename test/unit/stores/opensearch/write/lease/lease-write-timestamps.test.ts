import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../../../src/lib/errors/unavailable.ts'
import { createLeaseHolders } from './lease-holders.ts'
import { createMemoryLeaseDocument, LONG_LEASE_MS, leaseRecord } from './memory-lease.ts'

const NOON = Date.parse('2026-03-01T12:00:00Z')
const FAR = NOON + 365 * 86_400_000

const { storeClock, startWriter, end } = createLeaseHolders(FAR)

beforeEach(() => {
  storeClock.clock.nowMs = FAR
})
afterEach(() => end())

describe('the write timestamp of a bulk', () => {
  it('the write timestamp is the time', async () => {
    const { clock, lease } = await startWriter(createMemoryLeaseDocument(), NOON)
    expect(await lease.nextWriteTimestamp()).toBe(NOON)
    clock.nowMs += 1_500
    expect(await lease.nextWriteTimestamp()).toBe(NOON + 1_500)
  })

  it('the write timestamp is a whole number of milliseconds', async () => {
    const { lease } = await startWriter(createMemoryLeaseDocument(), NOON + 0.9)
    expect(await lease.nextWriteTimestamp()).toBe(NOON)
  })

  it('the write timestamp increases by one while the clock stops or was set back', async () => {
    const { clock, lease } = await startWriter(createMemoryLeaseDocument(), NOON)
    await lease.nextWriteTimestamp()
    expect(await lease.nextWriteTimestamp()).toBe(NOON + 1)
    clock.nowMs -= 3_600_000
    expect(await lease.nextWriteTimestamp()).toBe(NOON + 2)
  })

  it('the write timestamp is above the ceiling of the previous writer, whatever the clock shows', async () => {
    const document = createMemoryLeaseDocument(leaseRecord({ stamp_ceiling: NOON + 9_000 }))
    const { lease } = await startWriter(document, NOON)
    expect(await lease.nextWriteTimestamp()).toBe(NOON + 9_001)
  })

  it('the write timestamp right after the last one of a released lease is available', async () => {
    const document = createMemoryLeaseDocument()
    const { lease } = await startWriter(document, NOON)
    const last = await lease.nextWriteTimestamp()
    await lease.release()
    const { lease: next } = await startWriter(document, NOON - 1_000)
    expect(await next.nextWriteTimestamp()).toBe(last + 1)
  })

  it('the lease reads its document only when the clock reaches the ceiling', async () => {
    const document = createMemoryLeaseDocument()
    const { clock, lease } = await startWriter(document, NOON)
    const before = document.written.length
    for (let count = 0; count < 1_000; count++) await lease.nextWriteTimestamp()
    expect(document.written).toHaveLength(before)
    clock.nowMs += 2 * LONG_LEASE_MS
    await lease.nextWriteTimestamp()
    expect(document.written).toHaveLength(before + 1)
  })

  it('the write timestamp equals the ceiling when the clock passed it during the confirmation', async () => {
    const document = createMemoryLeaseDocument()
    const { clock, lease } = await startWriter(document, NOON)
    const { replace } = document
    document.replace = async (known, record) => {
      clock.nowMs += 0.6 * LONG_LEASE_MS // Slow, but within the lease.
      if (document.written.length > 100) throw new Error('it is never given')
      return replace(known, record)
    }
    clock.nowMs += LONG_LEASE_MS
    const writeTimestamp = await lease.nextWriteTimestamp()
    expect(writeTimestamp).toBe(document.record()?.stamp_ceiling)
    expect(await lease.nextWriteTimestamp()).toBeGreaterThan(writeTimestamp)
  })

  it('the ceiling never falls while the lease is held, even when the clock is set back', async () => {
    const document = createMemoryLeaseDocument()
    const { clock, lease } = await startWriter(document, NOON)
    const before = document.record()?.stamp_ceiling
    clock.nowMs -= 3_600_000
    await lease.fence()
    expect(document.record()?.stamp_ceiling).toBe(before)
  })

  it('the write timestamp is never above the confirmed ceiling, and the ceiling is bounded', async () => {
    const document = createMemoryLeaseDocument()
    const { lease } = await startWriter(document, NOON)
    const ceiling = document.record()?.stamp_ceiling ?? 0
    expect(ceiling).toBeGreaterThan(NOON)
    expect(ceiling).toBeLessThanOrEqual(NOON + LONG_LEASE_MS)
    expect(await lease.nextWriteTimestamp()).toBeLessThanOrEqual(ceiling)
  })
})

describe('a write timestamp and the clock of the store', () => {
  beforeEach(() => {
    storeClock.clock.nowMs = NOON
  })

  it("the lease issues no write timestamp when the writer's clock jumps more than 5 s ahead", async () => {
    const { clock, lease } = await startWriter(createMemoryLeaseDocument(), NOON)
    clock.nowMs = NOON + 5_000
    expect(await lease.nextWriteTimestamp()).toBe(NOON + 5_000)
    clock.nowMs = NOON + 4 * 365 * 86_400_000
    await expect(lease.nextWriteTimestamp()).rejects.toThrow(
      '126144000 s ahead of the clock of OpenSearch',
    )
  })

  it("the lease continues once the writer's clock is right again", async () => {
    const { clock, lease } = await startWriter(createMemoryLeaseDocument(), NOON)
    clock.nowMs = NOON + 60_000
    await expect(lease.nextWriteTimestamp()).rejects.toThrow('60 s ahead')
    clock.nowMs = NOON + 1
    expect(await lease.nextWriteTimestamp()).toBe(NOON + 1)
  })

  it("the ceiling stays near the store clock, however far ahead the writer's clock is", async () => {
    const document = createMemoryLeaseDocument()
    const { clock, lease } = await startWriter(document, NOON)
    clock.nowMs = NOON + 4 * 365 * 86_400_000
    await lease.fence()
    expect(document.record()?.stamp_ceiling).toBe(NOON + 5_000 + LONG_LEASE_MS / 2)
  })

  it('the lease reads the store clock again before it rejects, since the machine may have slept', async () => {
    const { clock, lease } = await startWriter(createMemoryLeaseDocument(), NOON)
    clock.nowMs = NOON + 3_600_000
    storeClock.clock.readMs = clock.nowMs
    await expect(lease.nextWriteTimestamp()).resolves.toBeGreaterThan(NOON)
  })

  it('the lease does not read the store clock without a lead', async () => {
    const { lease } = await startWriter(createMemoryLeaseDocument(), NOON)
    const { reads } = storeClock.clock
    for (let count = 0; count < 100; count++) await lease.nextWriteTimestamp()
    expect(storeClock.clock.reads).toBe(reads)
  })

  it('the lease is unavailable while the store clock is set back, since the lead passes with time', async () => {
    const { clock, lease } = await startWriter(createMemoryLeaseDocument(), NOON)
    const last = await lease.nextWriteTimestamp()
    clock.nowMs = NOON - 60_000
    storeClock.clock.nowMs = NOON - 6_000
    await expect(lease.nextWriteTimestamp()).rejects.toThrow(Unavailable)
    storeClock.clock.nowMs = NOON - 4_000
    expect(await lease.nextWriteTimestamp()).toBe(last + 1)
  })
})
