import { acquireLease } from '../../../../../../src/stores/opensearch/write/lease/acquire-lease.ts'
import type { Fence } from '../../../../../../src/stores/opensearch/write/lease/fence.ts'
import type { Lease } from '../../../../../../src/stores/opensearch/write/lease/lease.ts'
import {
  createMemoryStoreClock,
  createRecordingFence,
  LONG_LEASE_MS,
  type MemoryLeaseDocument,
} from './memory-lease.ts'

/** Writers that replace each other, limited by the clock of one store; `end` ends them all. */
export function createLeaseHolders(storeMs: number) {
  const held: Lease[] = []
  const storeClock = createMemoryStoreClock(storeMs)

  return {
    storeClock,

    /** A writer with a separate clock, which acquires the lease at once. */
    async startWriter(
      document: MemoryLeaseDocument,
      startMs: number,
      fence: Fence = createRecordingFence(),
    ) {
      const clock = { nowMs: startMs }
      const last = document.record()
      // Ends the previous lease, and advances the clock by the wait that a writer would have had.
      if (last) document.put({ ...last, lease_ms: 0 })
      if (last?.released === false) storeClock.clock.nowMs += LONG_LEASE_MS
      const lease = await acquireLease({
        document,
        fence,
        leaseMs: LONG_LEASE_MS,
        clock: () => clock.nowMs,
        storeClock,
        maxWriteTimestamp: async () => 0,
        firstTarget: async () => 'orders-v1',
        purpose: 'load',
        onDelay() {},
      })
      held.push(lease)
      return { clock, lease }
    },

    async end() {
      for (const lease of held.splice(0)) await lease.release().catch(() => {})
    },
  }
}
