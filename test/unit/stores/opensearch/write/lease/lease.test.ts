import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { LeaseLostError } from '../../../../../../src/indexing/writer/writer-errors.ts'
import { Unavailable } from '../../../../../../src/lib/errors/unavailable.ts'
import { CEILING, createLeaseFixture } from './lease-fixture.ts'
import { LONG_LEASE_MS, type LostResponse } from './memory-lease.ts'

let { document, fence, begin, passCeiling, takeOver, end }: ReturnType<typeof createLeaseFixture> =
  createLeaseFixture()

beforeEach(() => {
  ;({ document, fence, begin, passCeiling, takeOver, end } = createLeaseFixture())
})
afterEach(async () => {
  vi.restoreAllMocks()
  await end()
})

describe('a new lease', () => {
  it('a new lease has raised its fence and renewed itself afterwards', async () => {
    fence.raising = async () => expect(document.written).toHaveLength(1)
    const lease = await begin()
    expect(fence.raised).toMatchObject([{ epoch: 7, holder: 'me', targets: ['orders-v1'] }])
    expect(document.written).toHaveLength(2)
    expect(lease.epoch()).toBe(7)
  })

  it('a new lease is released when its fence cannot be raised', async () => {
    fence.raising = async () => {
      throw new Unavailable('not every node responds')
    }
    await expect(begin()).rejects.toThrow('not every node responds')
    expect(document.record()).toMatchObject({ released: true, stamp_ceiling: CEILING })
  })

  it('a new lease is lost when another writer acquired it during its fence', async () => {
    fence.raising = async () => takeOver()
    await expect(begin()).rejects.toThrow(LeaseLostError)
    expect(document.record()).toMatchObject({ holder: 'another writer', released: false })
  })
})

describe('a fence that is raised again', () => {
  it('a raised fence has a new epoch, which the document names first', async () => {
    const lease = await begin()
    fence.raising = async () => expect(document.record()?.epoch).toBe(8)
    await lease.fence()
    expect(fence.raised.map(({ epoch }) => epoch)).toEqual([7, 8])
    expect([lease.epoch(), document.record()?.epoch]).toEqual([8, 8])
  })

  it('a failed fence is raised with another epoch the next time', async () => {
    const lease = await begin()
    fence.raising = async () => {
      throw new Unavailable('not every node responds')
    }
    await expect(lease.fence()).rejects.toThrow(Unavailable)
    fence.raising = async () => {}
    await lease.fence()
    expect(fence.raised.map(({ epoch }) => epoch)).toEqual([7, 8, 9])
  })

  it('a fence that waited for earlier bulks is raised again at the next epoch', async () => {
    const lease = await begin()
    fence.raising = async () => fence.raised.length !== 2 // The second had to wait.
    await lease.fence()
    expect(fence.raised.map(({ epoch }) => epoch)).toEqual([7, 8, 9])
    expect([lease.epoch(), document.record()?.epoch]).toEqual([9, 9])
  })

  it.each(['arrived', 'did not arrive'] as const)(
    'the fence is not raised when the response of the document was lost and the write %s',
    async (lost) => {
      const lease = await begin()
      document.loseResponses(lost)
      await expect(lease.fence()).rejects.toThrow(Unavailable)
      expect(fence.raised).toHaveLength(1)
      await lease.fence()
      expect(fence.raised.at(-1)?.epoch).toBe(8)
    },
  )

  it('the lease is lost when another writer acquired it during the fence', async () => {
    const lease = await begin()
    fence.raising = async () => takeOver()
    await expect(lease.fence()).rejects.toThrow(LeaseLostError)
  })
})

describe('a held lease', () => {
  it('the lease renews itself, even while its fence is slow', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    fence.raising = () => promise
    const beginning = begin({ leaseMs: 30 })
    await expect.poll(() => document.written.length).toBeGreaterThan(3)
    resolve()
    await beginning
    const before = document.written.length
    await expect.poll(() => document.written.length).toBeGreaterThan(before + 2)
  })

  it('the lease survives failed renewals', async () => {
    const lease = await begin({ leaseMs: 30 })
    document.loseResponses('did not arrive', 'arrived', 'did not arrive')
    const before = document.written.length
    await expect.poll(() => document.written.length).toBeGreaterThan(before + 3)
    await expect(lease.nextWriteTimestamp()).resolves.toBeGreaterThan(CEILING)
  })

  it('the lease does not renew itself after its release', async () => {
    const lease = await begin({ leaseMs: 30 })
    await lease.release()
    const before = document.written.length
    await sleep(60)
    expect(document.written).toHaveLength(before)
  })

  it('the lease issues no write timestamp after a lease duration without a confirmation', async () => {
    const monotonic = vi.spyOn(performance, 'now').mockReturnValue(0)
    const lease = await begin()
    monotonic.mockReturnValue(LONG_LEASE_MS - 1)
    takeOver()
    await expect(lease.nextWriteTimestamp()).resolves.toBeGreaterThan(CEILING)
    monotonic.mockReturnValue(LONG_LEASE_MS)
    await expect(lease.nextWriteTimestamp()).rejects.toThrow(LeaseLostError)
  })

  it('the lease measures its duration from before the confirming request', async () => {
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

describe('the release of a lease', () => {
  it('the release leaves the last write timestamp as the ceiling', async () => {
    const lease = await begin()
    await lease.nextWriteTimestamp()
    const last = await lease.nextWriteTimestamp()
    await lease.release()
    expect(document.record()).toMatchObject({ released: true, stamp_ceiling: last, epoch: 7 })
  })

  it('the release without a write timestamp leaves the ceiling unchanged', async () => {
    const lease = await begin()
    await lease.release()
    expect(document.record()).toMatchObject({ released: true, stamp_ceiling: CEILING })
  })

  it('the lease is released even after a lost response', async () => {
    const lease = await begin()
    passCeiling()
    document.loseResponses('arrived')
    await expect(lease.nextWriteTimestamp()).rejects.toThrow(Unavailable)
    await lease.release()
    expect(document.record()).toMatchObject({ released: true, stamp_ceiling: CEILING })
  })

  it.each(['arrived', 'did not arrive'] as const)(
    'a release is repeated when its response was lost and it %s',
    async (lost) => {
      const lease = await begin()
      document.loseResponses(lost, lost)
      await lease.release()
      expect(document.record()).toMatchObject({ released: true })
    },
  )

  it('a lease issues no write timestamp after a release that failed', async () => {
    const lease = await begin()
    document.loseResponses(...Array<LostResponse>(100).fill('did not arrive'))
    await expect(lease.release()).rejects.toThrow(Unavailable)
    await expect(lease.nextWriteTimestamp()).rejects.toThrow(LeaseLostError)
  })

  it('a released lease issues no write timestamp', async () => {
    const lease = await begin()
    await lease.release()
    await expect(lease.nextWriteTimestamp()).rejects.toThrow(LeaseLostError)
    await expect(lease.fence()).rejects.toThrow(LeaseLostError)
  })
})
