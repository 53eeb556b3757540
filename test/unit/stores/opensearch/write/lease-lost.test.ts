import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LeaseLostError } from '../../../../../src/indexing/writer/order-index.ts'
import { Unavailable } from '../../../../../src/lib/unavailable.ts'
import type { Lease } from '../../../../../src/stores/opensearch/write/lease.ts'
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

/** Somebody else took over, and the lease found out. */
async function lose(lease: Lease): Promise<void> {
  takeOver()
  passCeiling()
  await expect(lease.nextWriteTimestamp()).rejects.toThrow(LeaseLostError)
}

describe('an answer of the document that was lost', () => {
  it.each(['arrived', 'did not arrive'] as const)(
    'when the write %s loses nothing',
    async (lost) => {
      const lease = await begin()
      passCeiling()
      document.loseResponses(lost)
      await expect(lease.nextWriteTimestamp()).rejects.toThrow(Unavailable)
      const stamp = await lease.nextWriteTimestamp()
      expect(stamp).toBe(clock.nowMs)
      expect(document.record()?.stamp_ceiling).toBeGreaterThanOrEqual(stamp)
    },
  )

  it('gives no stamp above the ceiling that was confirmed', async () => {
    const lease = await begin()
    const before = document.record()?.stamp_ceiling
    passCeiling()
    document.loseResponses('did not arrive', 'did not arrive', 'did not arrive')
    for (let attempt = 0; attempt < 3; attempt++) {
      await expect(lease.nextWriteTimestamp()).rejects.toThrow(Unavailable)
    }
    expect(document.record()?.stamp_ceiling).toBe(before)
  })

  it('gives no stamp above it either where a higher one was read', async () => {
    const lease = await begin()
    const confirmed = document.record()?.stamp_ceiling ?? 0
    passCeiling()
    document.loseResponses('arrived')
    await expect(lease.nextWriteTimestamp()).rejects.toThrow(Unavailable)
    expect(document.record()?.stamp_ceiling).toBeGreaterThan(clock.nowMs)

    const { replace } = document
    document.replace = async (known, record) => {
      document.replace = () => Promise.reject(new Unavailable('no answer'))
      return replace(known, record) // A conflict: what is read then shows the higher one.
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

  it('of a write that came too late finds who took over', async () => {
    const lease = await begin()
    passCeiling()
    document.loseResponses('did not arrive')
    await expect(lease.nextWriteTimestamp()).rejects.toThrow(Unavailable)
    await lose(lease)
  })
})

describe('a lease that somebody else took over', () => {
  it('is lost for ever, whoever holds it later', async () => {
    const lease = await begin()
    await lose(lease)
    document.put(leaseRecord({ holder: 'me', stamp_ceiling: 10_000_000 }))
    await expect(lease.nextWriteTimestamp()).rejects.toThrow(LeaseLostError)
    await expect(lease.fence()).rejects.toThrow(LeaseLostError)
    expect(fence.raised).toHaveLength(1)
  })

  it('is found out by raising the fence', async () => {
    const lease = await begin()
    takeOver()
    await expect(lease.fence()).rejects.toThrow(LeaseLostError)
    expect(fence.raised).toHaveLength(1)
  })

  it('is not handed back', async () => {
    const lease = await begin()
    await lose(lease)
    await lease.release()
    expect(document.record()).toMatchObject({ holder: 'somebody else', released: false })
  })

  it('is not handed back either where nobody found out yet', async () => {
    const lease = await begin()
    takeOver()
    await expect(lease.release()).rejects.toThrow(LeaseLostError)
    expect(document.record()).toMatchObject({ holder: 'somebody else', released: false })
  })

  it('is lost too when its document is gone', async () => {
    const lease = await begin()
    passCeiling()
    document.put(null)
    await expect(lease.nextWriteTimestamp()).rejects.toThrow(LeaseLostError)
    expect(document.record()).toBeNull()
  })
})
