import { Unavailable } from './unavailable.ts'

/** What bounds the work for one request: when its answer is due, and whether its caller still waits for it. */
export interface RequestScope {
  /** Milliseconds until the answer is due; not positive once it is overdue. */
  remainingMs(): number
  /** Runs `stop` when the caller is gone, at once if it is gone already; the returned function takes that back. */
  onDisconnect(stop: () => void): () => void
}

/** The caller disconnected before its answer was made: no fault of any service, and nothing to log. */
export class ClientDisconnected extends Error {
  constructor() {
    super('the caller disconnected')
    this.name = 'CallerGone'
  }
}

/** For work that no request waits for: only the store's own deadlines bound it. */
export const unbounded: RequestScope = { remainingMs: () => Infinity, onDisconnect: () => () => {} }

/**
 * Milliseconds that a call may take: `deadlineMs` at most, and no longer than its request has left.
 * @throws Unavailable when the request has no time left
 */
export function callTimeoutMs(scope: RequestScope, deadlineMs = Infinity): number {
  const ms = Math.min(deadlineMs, Math.ceil(scope.remainingMs()))
  if (ms > 0) return ms
  throw new Unavailable('the request took all of its time (REQUEST_DEADLINE_MS)')
}
