import {
  type Lease,
  type LeaseOptions,
  startLease,
} from '../../../../../../src/stores/opensearch/write/lease/lease.ts'
import {
  createMemoryLeaseDocument,
  createMemoryStoreClock,
  createRecordingFence,
  LONG_LEASE_MS,
  leaseRecord,
} from './memory-lease.ts'

/** The ceiling of the previous writer. */
export const CEILING = 5_000

type LeaseStart = Partial<Pick<LeaseOptions, 'leaseMs' | 'onTargetsChanged'>>

/** A document that names the writer `me`, with helpers for its lease. */
export function createLeaseFixture() {
  const document = createMemoryLeaseDocument(leaseRecord({ holder: 'me', stamp_ceiling: CEILING }))
  const fence = createRecordingFence()
  const clock = { nowMs: 100_000 }
  const storeClock = createMemoryStoreClock(clock.nowMs)
  const leases: Lease[] = []

  return {
    document,
    fence,
    clock,
    storeClock,

    /** Starts the lease of the holder in the document. */
    async begin({ leaseMs = LONG_LEASE_MS, ...events }: LeaseStart = {}): Promise<Lease> {
      const record = await document.read()
      if (record === null) throw new Error('the lease has no holder')
      const clocks = { clock: () => clock.nowMs, storeClock }
      const options = { document, fence, leaseMs, ...clocks, ...events }
      const lease = await startLease(record, CEILING, options)
      leases.push(lease)
      return lease
    },

    /** Forces the lease to read its document before the next write timestamp. */
    passCeiling() {
      clock.nowMs = 1 + (document.record()?.stamp_ceiling ?? 0)
      storeClock.clock.nowMs = clock.nowMs
    },

    /** Another writer acquires the lease. */
    takeOver() {
      document.put(leaseRecord({ epoch: 8, holder: 'another writer', stamp_ceiling: 900_000 }))
    },

    /** Ends every lease that still renews itself. */
    async end() {
      for (const lease of leases) await lease.release().catch(() => {})
    },
  }
}
