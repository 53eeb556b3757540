import { Unavailable } from './errors/unavailable.ts'

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
  /** Runs `free` at the next release, at the latest once the response is sent. */
  onRelease(free: () => void): void
  /**
   * Frees the memory that nothing reads any more. A collection would free it late: by then the
   * objects of the request, which refer to it, are in the old generation.
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
  onRelease: () => {},
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
