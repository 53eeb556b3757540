import { Unavailable } from '../../../../../src/lib/unavailable.ts'
import type { Fence } from '../../../../../src/stores/opensearch/write/fence.ts'
import type {
  LeaseDocument,
  LeaseRecord,
  LeaseState,
} from '../../../../../src/stores/opensearch/write/lease-document.ts'
import type { StoreClock } from '../../../../../src/stores/opensearch/write/store-clock.ts'

/** What becomes of a write that nobody gets an answer to. */
export type LostResponse = 'arrived' | 'did not arrive'

export interface MemoryLeaseDocument extends LeaseDocument {
  /** What it says now. */
  record(): LeaseRecord | null
  /** Everything that was written to it. */
  readonly written: readonly LeaseRecord[]
  readonly reads: number
  /** What happens to the next writes: their answers are lost. */
  loseResponses(...answers: LostResponse[]): void
  /** Writes it as somebody else would, who looks at nothing. */
  put(record: LeaseRecord | null): void
}

/** The one document that writers agree on, in memory; changed by compare-and-set. */
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
      if (lost) throw new Unavailable(`the answer was lost: it ${lost}`)
      return isKnown ? current : null
    },
  }
}

export interface RecordingFence extends Fence {
  /** What it was raised for. */
  readonly raised: readonly LeaseRecord[]
  /** How it is raised, instead of at once. */
  raising: () => Promise<void>
}

export function createRecordingFence(): RecordingFence {
  const raised: LeaseRecord[] = []
  const fence: RecordingFence = {
    raised,
    raising: async () => {},
    async raise(record) {
      raised.push(record)
      await fence.raising()
    },
  }
  return fence
}

/** The record of a writer that is at work. */
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

/** The clock of a store that shows whatever it is set to; `readMs`: from the next reading on. */
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

/** So long that it is not renewed within a test. */
export const LONG_LEASE_MS = 60_000
