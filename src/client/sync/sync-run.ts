import type { OrderPage } from '../listing.ts'
import type { SyncRun, SyncState } from './sync-store.ts'

export interface RunPlan {
  overlapMs: number
  /** The maximum age of the last full sync, in milliseconds. */
  fullSyncIntervalMs: number
  /** Epoch milliseconds, by the clock of this machine. */
  nowMs: number
}

/**
 * The run to make now: the unfinished one, or the next. A run of changes starts at the watermark
 * minus an overlap, because a server that failed over may show a change late. A full sync is due at
 * intervals: erased orders leave no trace in the listing, and orders without `updated_at` are in no
 * run of changes.
 */
export function nextRun(state: SyncState, plan: RunPlan): SyncRun {
  const { pass: run, since, watermark } = state
  const isFullDue = isFullSyncDue(state, plan)
  // A full sync replaces an unfinished run of changes.
  if (run.reached !== 'done' && (run.kind === 'all' || !isFullDue)) return run
  const next = { number: run.number + 1, received: 0, cursor: null, reached: 'listing' } as const
  const from = watermark === null ? since : later(since, earlier(watermark, plan.overlapMs))
  // Without any dated order there is no instant to start a run of changes at.
  return isFullDue || from === null
    ? { ...next, kind: 'all', updatedGte: since }
    : { ...next, kind: 'changes', updatedGte: from }
}

/** The state at the start, or the continuation, of the run to make now. */
export function beginRun(state: SyncState, plan: RunPlan): SyncState {
  const pass = nextRun(state, plan)
  return pass === state.pass ? state : withoutOldWatermark({ ...state, pass })
}

/**
 * A full sync ends at the greatest `updated_at` of the received orders, as in a new store. An
 * earlier one may lie in the future, because the clock of the service was wrong.
 */
const withoutOldWatermark = (state: SyncState): SyncState =>
  state.pass.kind === 'all' ? { ...state, watermark: null } : state

/** True also if the last one lies in the future: the clock was wrong for an unknown time. */
function isFullSyncDue({ walkedAt }: SyncState, { fullSyncIntervalMs, nowMs }: RunPlan): boolean {
  if (walkedAt === null) return true
  const ageMs = nowMs - Date.parse(walkedAt)
  return ageMs < 0 || ageMs >= fullSyncIntervalMs
}

/** The state after a page is saved. */
export function afterPage(state: SyncState, { orders, nextCursor }: OrderPage): SyncState {
  const watermark = orders.reduce(
    (greatest, { updated_at }) => later(greatest, updated_at),
    state.watermark,
  )
  const { pass: run } = state
  const reached = nextCursor === null ? 'listed' : 'listing'
  // The first pages of a run that an earlier client started are not counted.
  const isCounted = run.received !== undefined || run.cursor === null
  const received = isCounted && { received: (run.received ?? 0) + orders.length }
  return { ...state, watermark, pass: { ...run, ...received, cursor: nextCursor, reached } }
}

/** The same run from its first page, under a new number: orders seen so far may be gone since. */
export function restarted(state: SyncState): SyncState {
  const { number } = state.pass
  const fresh = { number: number + 1, received: 0, cursor: null, reached: 'listing' } as const
  return withoutOldWatermark({ ...state, pass: { ...state.pass, ...fresh } })
}

function earlier(instant: string, ms: number): string {
  return new Date(Date.parse(instant) - ms).toISOString()
}

/** The later of two instants; `null` is earlier than any. */
export function later(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other
  return Date.parse(one) >= Date.parse(other) ? one : other
}
