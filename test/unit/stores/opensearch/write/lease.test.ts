import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { LeaseLostError } from '../../../../../src/indexing/writer/order-index.ts'
import { Unavailable } from '../../../../../src/lib/unavailable.ts'
import { CEILING, createLeaseFixture } from './lease-fixture.ts'
import { LONG_LEASE_MS } from './memory-lease.ts'

let { document, fence, begin, passCeiling, takeOver, end }: ReturnType<typeof createLeaseFixture> =
  createLeaseFixture()

beforeEach(() => {
  ;({ document, fence, begin, passCeiling, takeOver, end } = createLeaseFixture())
})
afterEach(async () => {
  vi.restoreAllMocks()
  await end()
})

describe('a lease that begins', () => {
  it('has raised its fence, and was renewed after that', async () => {
    fence.raising = async () => expect(document.written).toHaveLength(1)
    const lease = await begin()
    expect(fence.raised).toMatchObject([{ epoch: 7, holder: 'me', targets: ['orders-v1'] }])
    expect(document.written).toHaveLength(2)
    expect(lease.epoch()).toBe(7)
  })

  it('is handed back when its fence cannot be raised', async () => {
    fence.raising = async () => {
      throw new Unavailable('not every node answers')
    }
    await expect(begin()).rejects.toThrow('not every node answers')
    expect(document.record()).toMatchObject({ released: true, stamp_ceiling: CEILING })
  })

  it('is lost when somebody took over while it raised its fence', async () => {
    fence.raising = async () => takeOver()
    await expect(begin()).rejects.toThrow(LeaseLostError)
    expect(document.record()).toMatchObject({ holder: 'somebody else', released: false })
  })
})

describe('a fence that is raised again', () => {
  it('is of a new epoch, which the document names first', async () => {
    const lease = await begin()
    fence.raising = async () => expect(document.record()?.epoch).toBe(8)
    await lease.fence()
    expect(fence.raised.map(({ epoch }) => epoch)).toEqual([7, 8])
    expect([lease.epoch(), document.record()?.epoch]).toEqual([8, 8])
  })

  it('that failed is raised for another epoch the next time', async () => {
    const lease = await begin()
    fence.raising = async () => {
      throw new Unavailable('not every node answers')
    }
    await expect(lease.fence()).rejects.toThrow(Unavailable)
    fence.raising = async () => {}
    await lease.fence()
    expect(fence.raised.map(({ epoch }) => epoch)).toEqual([7, 8, 9])
  })

  it.each(['arrived', 'did not arrive'] as const)(
    'is not raised when the answer of the document was lost and the write %s',
    async (lost) => {
      const lease = await begin()
      document.loseResponses(lost)
      await expect(lease.fence()).rejects.toThrow(Unavailable)
      expect(fence.raised).toHaveLength(1)
      await lease.fence()
      expect(fence.raised.at(-1)?.epoch).toBe(8)
    },
  )

  it('is lost when somebody took over while it was raised', async () => {
    const lease = await begin()
    fence.raising = async () => takeOver()
    await expect(lease.fence()).rejects.toThrow(LeaseLostError)
  })
})

describe('a lease that is held', () => {
  it('is renewed by itself, also while its fence takes long', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    fence.raising = () => promise
    const beginning = begin({ leaseMs: 30 })
    await expect.poll(() => document.written.length).toBeGreaterThan(3)
    resolve()
    await beginning
    const before = document.written.length
    await expect.poll(() => document.written.length).toBeGreaterThan(before + 2)
  })

  it('outlives renewals that fail', async () => {
    const lease = await begin({ leaseMs: 30 })
    document.loseResponses('did not arrive', 'arrived', 'did not arrive')
    const before = document.written.length
    await expect.poll(() => document.written.length).toBeGreaterThan(before + 3)
    await expect(lease.nextWriteTimestamp()).resolves.toBeGreaterThan(CEILING)
  })

  it('is renewed no more once it is handed back', async () => {
    const lease = await begin({ leaseMs: 30 })
    await lease.release()
    const before = document.written.length
    await sleep(60)
    expect(document.written).toHaveLength(before)
  })

  it('gives no stamp after a whole lease without having been confirmed', async () => {
    const monotonic = vi.spyOn(performance, 'now').mockReturnValue(0)
    const lease = await begin()
    monotonic.mockReturnValue(LONG_LEASE_MS - 1)
    takeOver()
    await expect(lease.nextWriteTimestamp()).resolves.toBeGreaterThan(CEILING)
    monotonic.mockReturnValue(LONG_LEASE_MS)
    await expect(lease.nextWriteTimestamp()).rejects.toThrow(LeaseLostError)
  })

  it('counts that lease from before it asked to be confirmed', async () => {
    const monotonic = vi.spyOn(performance, 'now').mockReturnValue(0)
    const lease = await begin()
    const { replace } = document
    document.replace = async (known, record) => {
      monotonic.mockReturnValue(LONG_LEASE_MS / 2)
      return replace(known, record)
    }
    passCeiling()
    await lease.nextWriteTimestamp()
    takeOver()
    monotonic.mockReturnValue(LONG_LEASE_MS)
    await expect(lease.nextWriteTimestamp()).rejects.toThrow(LeaseLostError)
  })
})

describe('a lease that is handed back', () => {
  it('leaves its last stamp as the ceiling', async () => {
    const lease = await begin()
    await lease.nextWriteTimestamp()
    const last = await lease.nextWriteTimestamp()
    await lease.release()
    expect(document.record()).toMatchObject({ released: true, stamp_ceiling: last, epoch: 7 })
  })

  it('without a stamp leaves the ceiling that it found', async () => {
    const lease = await begin()
    await lease.release()
    expect(document.record()).toMatchObject({ released: true, stamp_ceiling: CEILING })
  })

  it('is handed back also when an answer was lost before', async () => {
    const lease = await begin()
    passCeiling()
    document.loseResponses('arrived')
    await expect(lease.nextWriteTimestamp()).rejects.toThrow(Unavailable)
    await lease.release()
    expect(document.record()).toMatchObject({ released: true, stamp_ceiling: CEILING })
  })

  it.each(['arrived', 'did not arrive'] as const)(
    'gives no stamp any more, also when the answer to that was lost and it %s',
    async (lost) => {
      const lease = await begin()
      document.loseResponses(lost)
      await expect(lease.release()).rejects.toThrow(Unavailable)
      await expect(lease.nextWriteTimestamp()).rejects.toThrow(LeaseLostError)
    },
  )

  it('gives no stamp any more', async () => {
    const lease = await begin()
    await lease.release()
    await expect(lease.nextWriteTimestamp()).rejects.toThrow(LeaseLostError)
    await expect(lease.fence()).rejects.toThrow(LeaseLostError)
  })
})
