import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Unavailable } from '../../../../../../src/lib/errors/unavailable.ts'
import { createLeaseFixture } from './lease-fixture.ts'

let { document, fence, begin, end }: ReturnType<typeof createLeaseFixture> = createLeaseFixture()

beforeEach(() => {
  ;({ document, fence, begin, end } = createLeaseFixture())
})
afterEach(() => end())

const BOTH = ['orders-v1', 'orders-v2']

/** An operator changes the write targets; the holder stays. */
function askFor(targets: readonly string[]): void {
  const record = document.record()
  if (record === null) throw new Error('the lease has no holder')
  document.put({ ...record, targets })
}

describe('the write targets of a lease', () => {
  it('the write targets are those of the document, which confirms them after the fence is raised', async () => {
    fence.raising = async () => expect(document.record()?.fed).not.toEqual(BOTH)
    askFor(BOTH)
    const lease = await begin()
    expect(lease.writeTargets()).toEqual(BOTH)
    expect(document.record()?.fed).toEqual(BOTH)
  })

  it('the lease issues no write timestamp for changed targets before it has raised the fence', async () => {
    const lease = await begin({ leaseMs: 30 })
    askFor(BOTH)
    await expect.poll(() => lease.hasPendingTargets()).toBe(true)
    await expect(lease.nextWriteTimestamp()).rejects.toThrow(Unavailable)
    expect(lease.writeTargets()).toEqual(['orders-v1'])

    await lease.fence()
    expect(fence.raised.at(-1)).toMatchObject({ epoch: 8, targets: BOTH })
    expect([lease.writeTargets(), lease.hasPendingTargets()]).toEqual([BOTH, false])
    await expect(lease.nextWriteTimestamp()).resolves.toBeGreaterThan(0)
  })

  it('the lease applies write targets that change while it raises the fence', async () => {
    let times = 0
    fence.raising = async () => {
      times += 1
      if (times === 1) askFor(BOTH)
    }
    const lease = await begin()
    expect(fence.raised.map(({ targets }) => targets)).toEqual([['orders-v1'], BOTH])
    expect([lease.writeTargets(), document.record()?.fed]).toEqual([BOTH, BOTH])
  })

  it('the lease applies a second index of version records by the same fence, and confirms it', async () => {
    const indices = ['order-heads-v1', 'order-heads-v2']
    const lease = await begin({ leaseMs: 30 })
    expect(lease.versionRecordTargets()).toEqual([])
    const record = document.record()
    if (record !== null) document.put({ ...record, version_records: indices })
    await expect.poll(() => lease.hasPendingTargets()).toBe(true)
    await expect(lease.nextWriteTimestamp()).rejects.toThrow(Unavailable)

    await lease.fence()
    expect(fence.raised.at(-1)).toMatchObject({ version_records: indices })
    expect([lease.versionRecordTargets(), lease.hasPendingTargets()]).toEqual([indices, false])
    expect(document.record()?.fed_version_records).toEqual(indices)
  })

  it('an idle writer reports changed write targets until they are applied', async () => {
    let reports = 0
    const lease = await begin({ leaseMs: 30, onTargetsChanged: () => reports++ })
    askFor(BOTH)
    await expect.poll(() => reports).toBeGreaterThanOrEqual(2)
    await lease.fence()
    expect(lease.hasPendingTargets()).toBe(false)
  })

  it('an idle writer reports targets that are requested back after their fence failed', async () => {
    let reports = 0
    const lease = await begin({ leaseMs: 30, onTargetsChanged: () => reports++ })
    fence.raising = async () => {
      throw new Unavailable('a shard of orders-v2 has no primary')
    }
    askFor(BOTH)
    await expect(lease.fence()).rejects.toThrow('has no primary')
    fence.raising = async () => {}
    askFor(['orders-v1'])
    reports = 0
    await expect.poll(() => reports).toBeGreaterThanOrEqual(3)
    await lease.fence()
    expect(document.record()?.fed).toEqual(['orders-v1'])
    expect(lease.hasPendingTargets()).toBe(false)
  })
})
