import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LeaseLostError } from '../../../../../../src/indexing/writer/writer-errors.ts'
import { Unavailable } from '../../../../../../src/lib/errors/unavailable.ts'
import type { Lease } from '../../../../../../src/stores/opensearch/write/lease/lease.ts'
import { createLeaseFixture } from './lease-fixture.ts'
import { leaseRecord } from './memory-lease.ts'

let {
  document,
  fence,
  clock,
  begin,
  passCeiling,
  takeOver,
  end,
}: ReturnType<typeof createLeaseFixture> = createLeaseFixture()

beforeEach(() => {
  ;({ document, fence, clock, begin, passCeiling, takeOver, end } = createLeaseFixture())
})
afterEach(() => end())

/** Another writer acquired the lease, and the lease detected the loss. */
async function lose(lease: Lease): Promise<void> {
  takeOver()
  passCeiling()
  await expect(lease.nextWriteTimestamp()).rejects.toThrow(LeaseLostError)
}

describe('a lost response of the lease document', () => {
  it.each(['arrived', 'did not arrive'] as const)(
    'a lost response loses nothing when the write %s',
    async (lost) => {
      const lease = await begin()
      passCeiling()
      document.loseResponses(lost)
      await expect(lease.nextWriteTimestamp()).rejects.toThrow(Unavailable)
      const writeTimestamp = await lease.nextWriteTimestamp()
      expect(writeTimestamp).toBe(clock.nowMs)
      expect(document.record()?.stamp_ceiling).toBeGreaterThanOrEqual(writeTimestamp)
    },
  )

  it('the lease issues no write timestamp above the confirmed ceiling', async () => {
    const lease = await begin()
    const before = document.record()?.stamp_ceiling
    passCeiling()
    document.loseResponses('did not arrive', 'did not arrive', 'did not arrive')
    for (let attempt = 0; attempt < 3; attempt++) {
      await expect(lease.nextWriteTimestamp()).rejects.toThrow(Unavailable)
    }
    expect(document.record()?.stamp_ceiling).toBe(before)
  })

  it('the lease issues no write timestamp above its own ceiling after it read a higher one', async () => {
    const lease = await begin()
    const confirmed = document.record()?.stamp_ceiling ?? 0
    passCeiling()
    document.loseResponses('arrived')
    await expect(lease.nextWriteTimestamp()).rejects.toThrow(Unavailable)
    expect(document.record()?.stamp_ceiling).toBeGreaterThan(clock.nowMs)

    const { replace } = document
    document.replace = async (known, record) => {
      document.replace = () => Promise.reject(new Unavailable('no response'))
      return replace(known, record) // A conflict: the next read returns the higher ceiling.
    }
    for (let attempt = 0; attempt < 3; attempt++) {
      await expect(lease.nextWriteTimestamp()).rejects.toThrow(Unavailable)
    }
    clock.nowMs = confirmed
    expect(await lease.nextWriteTimestamp()).toBe(confirmed)
    await expect(lease.nextWriteTimestamp()).rejects.toThrow(Unavailable)

    document.replace = replace
    expect(await lease.nextWriteTimestamp()).toBe(confirmed + 1)
  })

  it('a late write reports the new holder', async () => {
    const lease = await begin()
    passCeiling()
    document.loseResponses('did not arrive')
    await expect(lease.nextWriteTimestamp()).rejects.toThrow(Unavailable)
    await lose(lease)
  })
})

describe('a lease that another writer acquired', () => {
  it('a lost lease stays lost, whichever writer holds it later', async () => {
    const lease = await begin()
    await lose(lease)
    document.put(leaseRecord({ holder: 'me', stamp_ceiling: 10_000_000 }))
    await expect(lease.nextWriteTimestamp()).rejects.toThrow(LeaseLostError)
    await expect(lease.fence()).rejects.toThrow(LeaseLostError)
    expect(fence.raised).toHaveLength(1)
  })

  it('raising the fence detects a lost lease', async () => {
    const lease = await begin()
    takeOver()
    await expect(lease.fence()).rejects.toThrow(LeaseLostError)
    expect(fence.raised).toHaveLength(1)
  })

  it('a lost lease is not released', async () => {
    const lease = await begin()
    await lose(lease)
    await lease.release()
    expect(document.record()).toMatchObject({ holder: 'another writer', released: false })
  })

  it('a lost lease is not released even before the loss was detected', async () => {
    const lease = await begin()
    takeOver()
    await expect(lease.release()).rejects.toThrow(LeaseLostError)
    expect(document.record()).toMatchObject({ holder: 'another writer', released: false })
  })

  it('a lease is lost when its document is gone', async () => {
    const lease = await begin()
    passCeiling()
    document.put(null)
    await expect(lease.nextWriteTimestamp()).rejects.toThrow(LeaseLostError)
    expect(document.record()).toBeNull()
  })
})
