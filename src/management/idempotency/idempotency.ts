import type { Clock } from '../../lib/clock.ts'
import type { IdempotencyStore, IdempotentRequest } from './idempotency-store.ts'

/**
 * `started`: the caller runs the request, then calls `complete` or `forget`. `in_progress`: another
 * call runs it. `other_body`: the key belongs to a request with another body.
 */
export type IdempotencyDecision =
  | { kind: 'started' }
  | { kind: 'in_progress' }
  | { kind: 'other_body' }
  | { kind: 'completed'; response: NonNullable<IdempotentRequest['response']> }

/** Runs each request with an `Idempotency-Key` once. Calls throw Unavailable. */
export interface Idempotency extends Pick<IdempotencyStore, 'complete' | 'forget'> {
  begin(request: Pick<IdempotentRequest, 'id' | 'bodyDigest'>): Promise<IdempotencyDecision>
}

/** The life of an `Idempotency-Key`. */
export const IDEMPOTENCY_KEY_TTL_MS = 24 * 3_600_000
/**
 * A process that crashed leaves its request in progress. Requests end within seconds, and clients
 * retry for minutes: later, the next call with the key runs the request again.
 */
export const ABANDONED_AFTER_MS = 2 * 60_000

/** Creates the decisions over a store. `clock`: epoch milliseconds. */
export function createIdempotency(store: IdempotencyStore, clock: Clock): Idempotency {
  return {
    async begin({ id, bodyDigest }) {
      const nowMs = clock()
      const request = { id, bodyDigest, createdAt: nowMs, response: null }
      let found = await store.begin(request, nowMs - IDEMPOTENCY_KEY_TTL_MS)
      if (found !== null && isAbandoned(found, nowMs)) {
        // Replaces exactly the abandoned one: of concurrent calls, one starts.
        found = await store.begin(request, found.createdAt + 1)
      }
      if (found === null) return { kind: 'started' }
      if (found.bodyDigest !== bodyDigest) return { kind: 'other_body' }
      const { response } = found
      return response === null ? { kind: 'in_progress' } : { kind: 'completed', response }
    },
    complete: (id, response) => store.complete(id, response),
    forget: (id) => store.forget(id),
  }
}

const isAbandoned = ({ response, createdAt }: IdempotentRequest, nowMs: number) =>
  response === null && createdAt < nowMs - ABANDONED_AFTER_MS
