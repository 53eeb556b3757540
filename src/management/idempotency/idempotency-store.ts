/** A request with an `Idempotency-Key`, and its response once it exists. */
export interface IdempotentRequest {
  /** Derived from the token's name, the route and the key. */
  id: string
  /** SHA-256 of the body. */
  bodyDigest: string
  /** Epoch milliseconds. */
  createdAt: number
  /** `null` while the first request is in progress. */
  response: { status: number; body: string } | null
}

/** Requests of the last 24 hours, in the durable store. Calls throw Unavailable. */
export interface IdempotencyStore {
  /**
   * Inserts a request, unless one with its id was inserted at or after `sinceMs`. Returns that one,
   * or `null` once inserted. Of concurrent calls, one returns `null`.
   */
  begin(request: IdempotentRequest, sinceMs: number): Promise<IdempotentRequest | null>
  complete(id: string, response: NonNullable<IdempotentRequest['response']>): Promise<void>
  /** Removes a request that changed nothing, so that its key can be used again. */
  forget(id: string): Promise<void>
  purge(beforeMs: number): Promise<void>
}
