import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { interruptiblePause } from '../../lib/async/interruptible-pause.ts'
import type { Clock } from '../../lib/clock.ts'
import { Unavailable } from '../../lib/errors/unavailable.ts'
import type { DocumentState } from './client/documents/document-state.ts'

/** A version of a lease document, as a process reads it that is not the holder. */
export interface ObservedLease {
  record: {
    /** Unique name of the holding process. */
    holder: string
    /** The holder ended cleanly, so the next one need not wait. */
    released: boolean
    /** Validity without a renewal, in milliseconds; the holder's setting. */
    lease_ms: number
  }
  state: DocumentState
}

/** A name that no other process has. */
export function createHolderName(): string {
  return `${hostname()} ${process.pid} ${randomBytes(4).toString('hex')}`
}

/**
 * A standby takes over soon. Pushed orders wait for two polls to leave other writers their turn.
 */
const MAX_POLL_MS = 200

/** How often a waiting process reads the lease, in milliseconds. */
export const leasePollMs = (leaseMs: number): number => Math.min(leaseMs / 20, MAX_POLL_MS)

/** Whether nothing renewed, released or removed the lease between two observations. */
export function isSameState(one: ObservedLease | null, other: ObservedLease | null): boolean {
  return (
    one?.state.if_seq_no === other?.state.if_seq_no &&
    one?.state.if_primary_term === other?.state.if_primary_term
  )
}

export interface LeaseWaitOptions<Lease> {
  read(): Promise<Lease | null>
  /** What the holder is, as in "another writer". */
  role: string
  /** What the holder did meanwhile, for the error of an abort. */
  activity: string
  /** Milliseconds. */
  monotonic: Clock
  /** Receives the reason of the wait once. */
  onDelay(reason: string): void
  /** Called for each change of the lease; the wait ends with what it throws. */
  onChange?(before: Lease, now: Lease | null): void
  signal?: AbortSignal | undefined
}

/**
 * Waits until the lease is released, or unchanged for its whole duration on this machine's clock.
 * Returns the last version; `null` without any.
 * @throws Unavailable from the first read only; Error when `signal` aborts the wait
 */
export async function waitUntilFree<Lease extends ObservedLease>(
  options: LeaseWaitOptions<Lease>,
): Promise<Lease | null> {
  const { read, role, activity, monotonic, onDelay, onChange, signal } = options
  let observed = await read()
  let observedAt = monotonic()
  if (observed !== null && !observed.record.released) {
    const { holder, lease_ms } = observed.record
    const seconds = Math.ceil(lease_ms / 1000)
    onDelay(
      `waiting for another ${role} to end (${holder}); the lease of a dead ${role} expires in ${seconds} s`,
    )
  }
  while (observed !== null && !observed.record.released) {
    const { lease_ms } = observed.record
    if (monotonic() - observedAt >= lease_ms) return observed
    await interruptiblePause(leasePollMs(lease_ms), signal, activity)
    const now: Lease | null = await read().catch(keepIfUnavailable(observed))
    if (isSameState(now, observed)) continue
    onChange?.(observed, now)
    observed = now
    observedAt = monotonic()
  }
  return observed
}

/** While OpenSearch is unavailable, the last observation stays valid. */
function keepIfUnavailable<Lease>(observed: Lease) {
  return (error: unknown): Lease => {
    if (!(error instanceof Unavailable)) throw error
    return observed
  }
}
