import type { Pass, SyncState } from './copy.ts'

export interface PassPlan {
  overlapMs: number
  /** How old the last walk over everything may be, in milliseconds. */
  walkAllEveryMs: number
  /** Epoch milliseconds, by the clock of this machine. */
  nowMs: number
}

/**
 * The walk that is to be made now: the one that was not finished, or the next. It begins at the greatest `updated_at`
 * seen less an overlap, for a change that a server which failed had shown late; now and then it is over everything,
 * since orders that are erased are gone without a word, and those without `updated_at` are in no other walk.
 */
export function nextPass(state: SyncState, plan: PassPlan): Pass {
  const { pass, since, watermark } = state
  const isDue = isWalkDue(state, plan)
  // One over everything takes the place of one that was not finished.
  if (pass.reached !== 'done' && (pass.kind === 'all' || !isDue)) return pass
  const fresh = {
    number: pass.number + 1,
    received: 0,
    cursor: null,
    reached: 'listing',
  } as const
  const from = watermark === null ? since : later(since, earlier(watermark, plan.overlapMs))
  // Where nothing with a date was seen yet, there is no instant from which on all is known.
  return isDue || from === null
    ? { ...fresh, kind: 'all', updatedGte: since }
    : { ...fresh, kind: 'changes', updatedGte: from }
}

/** Also when the last one is in the future: a clock was set, and nobody knows for how long it was wrong. */
function isWalkDue({ walkedAt }: SyncState, { walkAllEveryMs, nowMs }: PassPlan): boolean {
  if (walkedAt === null) return true
  const ageMs = nowMs - Date.parse(walkedAt)
  return ageMs < 0 || ageMs >= walkAllEveryMs
}

function earlier(instant: string, ms: number): string {
  return new Date(Date.parse(instant) - ms).toISOString()
}

/** The later of two instants; `null` is before all of them. */
export function later(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other
  return Date.parse(one) >= Date.parse(other) ? one : other
}
