import { hash } from 'node:crypto'
import type { Clock } from '../../lib/clock.ts'
import { HOUR_MS, MINUTE_MS } from '../../lib/durations.ts'
import type { IdempotencyStore, IdempotentRequest, RequestClaim } from './idempotency-store.ts'

/**
 * `started`: the caller runs the request, then ends its claim. `in_progress`: another call runs it.
 * `other_body`: the key belongs to a request with another body. `completed`: the caller returns the
 * response of the first call.
 */
export type IdempotencyDecision =
  | { kind: 'started'; claim: HeldClaim }
  | { kind: 'in_progress' }
  | { kind: 'other_body' }
  | { kind: 'completed'; response: NonNullable<IdempotentRequest['response']> }

/** A claim that is renewed until one of these calls, which throw Unavailable. */
export interface HeldClaim {
  /** Of the request with this body. A repetition after an error has the same one. */
  readonly requestId: string
  /** Stores the response for repetitions. */
  complete(response: NonNullable<IdempotentRequest['response']>): Promise<void>
  /** Removes a request that changed nothing, so that its key can be used again. */
  forget(): Promise<void>
}

/** Runs each request with an `Idempotency-Key` once. */
export interface Idempotency {
  /** Claims a request, unless another call has claimed or completed it. @throws Unavailable */
  begin(request: Pick<IdempotentRequest, 'id' | 'bodyDigest'>): Promise<IdempotencyDecision>
}

/** The life of an `Idempotency-Key`. */
export const IDEMPOTENCY_KEY_TTL_MS = 24 * HOUR_MS
/**
 * A process that crashed leaves its request in progress. Clients retry for minutes: later, the next
 * call with the key runs the request again.
 */
export const ABANDONED_AFTER_MS = 2 * MINUTE_MS
/** Enabling or replaying with many deliveries may take longer. Several renewals may fail. */
export const RENEW_EVERY_MS = ABANDONED_AFTER_MS / 6

/** Creates the decisions over a store. `clock`: epoch milliseconds. */
export function createIdempotency(store: IdempotencyStore, clock: Clock): Idempotency {
  return {
    async begin({ id, bodyDigest }) {
      const createdAt = clock()
      const request = { id, bodyDigest, createdAt, response: null }
      const begun = await store.begin(request, {
        completed: createdAt - IDEMPOTENCY_KEY_TTL_MS,
        inProgress: createdAt - ABANDONED_AFTER_MS,
      })
      if ('claim' in begun)
        return { kind: 'started', claim: holdClaim(begun.claim, request, clock) }
      const { found } = begun
      if (found.bodyDigest !== bodyDigest) return { kind: 'other_body' }
      const { response } = found
      return response === null ? { kind: 'in_progress' } : { kind: 'completed', response }
    },
  }
}

/** Renews a claim until it ends. */
function holdClaim(
  claim: RequestClaim,
  { id, bodyDigest }: IdempotentRequest,
  clock: Clock,
): HeldClaim {
  let renewal: Promise<void> | null = null

  const timer = setInterval(() => {
    // After a failure the next one, or the end of the request, finds the store again.
    renewal ??= claim
      .renew(clock())
      .catch(() => {})
      .finally(() => {
        renewal = null
      })
  }, RENEW_EVERY_MS).unref()

  async function end(): Promise<RequestClaim> {
    clearInterval(timer)
    await renewal
    return claim
  }

  return {
    requestId: hash('sha256', `${id} ${bodyDigest}`),
    complete: async (response) => (await end()).complete(response),
    forget: async () => (await end()).forget(),
  }
}
