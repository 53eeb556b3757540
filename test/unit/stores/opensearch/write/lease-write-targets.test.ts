import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Unavailable } from '../../../../../src/lib/unavailable.ts'
import { createLeaseFixture } from './lease-fixture.ts'

let { document, fence, begin, end }: ReturnType<typeof createLeaseFixture> = createLeaseFixture()

beforeEach(() => {
  ;({ document, fence, begin, end } = createLeaseFixture())
})
afterEach(() => end())

const BOTH = ['orders-v1', 'orders-v2']

/** Somebody else asks for other indices; the holder stays. */
function askFor(targets: readonly string[]): void {
  const record = document.record()
  if (record === null) throw new Error('nobody holds it')
  document.put({ ...record, targets })
}

describe('the indices that a writer feeds', () => {
  it('are those of the document, which tells that they are fed once the fence is raised', async () => {
    fence.raising = async () => expect(document.record()?.fed).not.toEqual(BOTH)
    askFor(BOTH)
    const lease = await begin()
    expect(lease.writeTargets()).toEqual(BOTH)
    expect(document.record()?.fed).toEqual(BOTH)
  })

  it('change between two bulks: no stamp is given until the fence was raised for them', async () => {
    const lease = await begin({ leaseMs: 30 })
    askFor(BOTH)
    await vi.waitUntil(() => lease.hasPendingTargets())
    await expect(lease.nextWriteTimestamp()).rejects.toThrow(Unavailable)
    expect(lease.writeTargets()).toEqual(['orders-v1'])

    await lease.fence()
    expect(fence.raised.at(-1)).toMatchObject({ epoch: 8, targets: BOTH })
    expect([lease.writeTargets(), lease.hasPendingTargets()]).toEqual([BOTH, false])
    await expect(lease.nextWriteTimestamp()).resolves.toBeGreaterThan(0)
  })

  it('are fed all when they change while the fence is raised', async () => {
    let times = 0
    fence.raising = async () => {
      times += 1
      if (times === 1) askFor(BOTH)
    }
    const lease = await begin()
    expect(fence.raised.map(({ targets }) => targets)).toEqual([['orders-v1'], BOTH])
    expect([lease.writeTargets(), document.record()?.fed]).toEqual([BOTH, BOTH])
  })

  it('are noticed by a writer that has nothing to write, again and again until they are fed', async () => {
    let told = 0
    const lease = await begin({ leaseMs: 30, onTargetsChanged: () => told++ })
    askFor(BOTH)
    await vi.waitUntil(() => told >= 2)
    await lease.fence()
    expect(lease.hasPendingTargets()).toBe(false)
  })
})
