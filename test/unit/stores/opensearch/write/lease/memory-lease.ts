import { Unavailable } from '../../../../../../src/lib/errors/unavailable.ts'
import type {
  LeaseDocument,
  LeaseRecord,
  LeaseState,
} from '../../../../../../src/stores/opensearch/lease-document.ts'
import type { Fence } from '../../../../../../src/stores/opensearch/write/lease/fence.ts'
import type { StoreClock } from '../../../../../../src/stores/opensearch/write/lease/store-clock.ts'

/** The outcome of a write whose response is lost. */
export type LostResponse = 'arrived' | 'did not arrive'

export interface MemoryLeaseDocument extends LeaseDocument {
  /** The current record. */
  record(): LeaseRecord | null
  /** All written records. */
  readonly written: readonly LeaseRecord[]
  readonly reads: number
  /** The outcomes of the next writes; their responses are lost. */
  loseResponses(...answers: LostResponse[]): void
  /** Writes it unconditionally, like another process. */
  put(record: LeaseRecord | null): void
}

/** The lease document in memory, changed by compare-and-set. */
export function createMemoryLeaseDocument(first: LeaseRecord | null = null): MemoryLeaseDocument {
  let current: LeaseState | null = null
  let sequence = 0
  let losing: LostResponse[] = []
  const written: LeaseRecord[] = []
  let reads = 0

  function put(record: LeaseRecord | null): void {
    sequence += 1
    current = record && { record, state: { if_seq_no: sequence, if_primary_term: 1 } }
    if (record) written.push(record)
  }
  if (first) put(first)

  return {
    put,
    written,
    get reads() {
      return reads
    },
    record: () => current?.record ?? null,
    loseResponses(...answers) {
      losing = answers
    },
    async read() {
      reads += 1
      return current
    },
    async replace(known, record) {
      const lost = losing.shift()
      const isKnown = current?.state.if_seq_no === known?.state.if_seq_no
      if (isKnown && lost !== 'did not arrive') put(record)
      if (lost) throw new Unavailable(`the response was lost: it ${lost}`)
      return isKnown ? current : null
    },
  }
}

export interface RecordingFence extends Fence {
  /** The arguments of each raise. */
  readonly raised: readonly LeaseRecord[]
  /** Replaces the immediate raise; `false` when a bulk of an earlier epoch was in flight. */
  raising: () => Promise<unknown>
}

export function createRecordingFence(): RecordingFence {
  const raised: LeaseRecord[] = []
  const fence: RecordingFence = {
    raised,
    raising: async () => {},
    async raise(record) {
      raised.push(record)
      return (await fence.raising()) !== false
    },
  }
  return fence
}

/** The record of an active writer. */
export function leaseRecord(changes: Partial<LeaseRecord> = {}): LeaseRecord {
  return {
    epoch: 7,
    holder: 'the writer before',
    purpose: 'load',
    released: false,
    lease_ms: LONG_LEASE_MS,
    stamp_ceiling: 5_000,
    targets: ['orders-v1'],
    fed: ['orders-v1'],
    stamped_live: false,
    ...changes,
  }
}

/** A store clock that the test sets; `readMs` applies from the next read. */
export function createMemoryStoreClock(nowMs: number) {
  const clock = { nowMs, readMs: undefined as number | undefined, reads: 0 }
  const store: StoreClock = {
    now: () => clock.nowMs,
    async read() {
      clock.reads += 1
      clock.nowMs = clock.readMs ?? clock.nowMs
      clock.readMs = undefined
      return clock.nowMs
    },
  }
  return { ...store, clock }
}

/** Too long for a renewal within a test. */
export const LONG_LEASE_MS = 60_000
