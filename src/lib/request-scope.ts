import type { OwnedBytes } from './owned-bytes.ts'
import { Unavailable } from './unavailable.ts'

/**
 * Bounds the work for one request, by its deadline and by a disconnect of the client, and owns the
 * memory that the work fills.
 */
export interface RequestScope {
  /** Milliseconds until the deadline; zero or negative after it. */
  remainingMs(): number
  /**
   * Runs `stop` when the client disconnects, immediately if it has already. The returned function
   * unregisters `stop`.
   */
  onDisconnect(stop: () => void): () => void
  /** Takes over bytes, and frees them once the response is sent. */
  own(bytes: OwnedBytes): void
  /**
   * Frees the owned bytes now; nothing may read them afterwards. A collection would free them late:
   * by then the objects of the request, which refer to them, are in the old generation.
   */
  release(): void
}

/** The client disconnected before the response: not a failure of a service, so it is not logged. */
export class ClientDisconnected extends Error {
  constructor() {
    super('the client disconnected')
    this.name = 'ClientDisconnected'
  }
}

/**
 * The scope of work outside requests: only the deadlines of the store bound it, and a collection
 * frees its memory.
 */
export const unbounded: RequestScope = {
  remainingMs: () => Infinity,
  onDisconnect: () => () => {},
  own: () => {},
  release: () => {},
}

/**
 * The timeout of a call in milliseconds: `deadlineMs`, or the request's remaining time if shorter.
 * @throws Unavailable when the request has no time left
 */
export function callTimeoutMs(scope: RequestScope, deadlineMs = Infinity): number {
  const ms = Math.min(deadlineMs, Math.ceil(scope.remainingMs()))
  if (ms > 0) return ms
  throw new Unavailable('the request exceeded its deadline (REQUEST_DEADLINE_MS)')
}
