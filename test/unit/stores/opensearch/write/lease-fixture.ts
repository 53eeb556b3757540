import {
  type Lease,
  type LeaseOptions,
  startLease,
} from '../../../../../src/stores/opensearch/write/lease.ts'
import {
  createMemoryLeaseDocument,
  createMemoryStoreClock,
  createRecordingFence,
  LONG_LEASE_MS,
  leaseRecord,
} from './memory-lease.ts'

/** The ceiling that the writer before left. */
export const CEILING = 5_000

type LeaseStart = Partial<Pick<LeaseOptions, 'leaseMs' | 'onTargetsChanged'>>

/** A document that names the writer `me`, and what a test does with its lease. */
export function createLeaseFixture() {
  const document = createMemoryLeaseDocument(leaseRecord({ holder: 'me', stamp_ceiling: CEILING }))
  const fence = createRecordingFence()
  const clock = { nowMs: 100_000 }
  const storeClock = createMemoryStoreClock(clock.nowMs)
  const begun: Lease[] = []

  return {
    document,
    fence,
    clock,
    storeClock,

    /** The lease of whom the document names. */
    async begin({ leaseMs = LONG_LEASE_MS, ...events }: LeaseStart = {}): Promise<Lease> {
      const taken = await document.read()
      if (taken === null) throw new Error('nobody holds it')
      const clocks = { clock: () => clock.nowMs, storeClock }
      const options = { document, fence, leaseMs, ...clocks, ...events }
      const lease = await startLease(taken, CEILING, options)
      begun.push(lease)
      return lease
    },

    /** Makes the lease ask its document before it gives the next stamp. */
    passCeiling() {
      clock.nowMs = 1 + (document.record()?.stamp_ceiling ?? 0)
      storeClock.clock.nowMs = clock.nowMs
    },

    /** Somebody else becomes the holder. */
    takeOver() {
      document.put(leaseRecord({ epoch: 8, holder: 'somebody else', stamp_ceiling: 900_000 }))
    },

    /** Ends all that is still being renewed. */
    async end() {
      for (const lease of begun) await lease.release().catch(() => {})
    },
  }
}
