/** A request with an `Idempotency-Key`, and its response once it exists. */
export interface IdempotentRequest {
  /** Derived from the token's name or the session, the route and the key. */
  id: string
  /** SHA-256 of the body. */
  bodyDigest: string
  /** Of its begin, or the last renewal of its claim; epoch milliseconds. */
  createdAt: number
  /** `null` while the first request is in progress. */
  response: { status: number; body: string } | null
}

/**
 * The right to run a request, which ends when another call begins the same one. Then, and once the
 * request has its response, calls do nothing. They throw Unavailable when the outcome is unknown,
 * as when a cluster returns no current request.
 */
export interface RequestClaim {
  /** Replaces `createdAt` of the request. */
  renew(createdAt: number): Promise<void>
  /** Stores the response of the request. */
  complete(response: NonNullable<IdempotentRequest['response']>): Promise<void>
  /** Removes a request that changed nothing, so that its key can be used again. */
  forget(): Promise<void>
}

/** The earliest `createdAt` of the requests that are not replaced; epoch milliseconds. */
export interface KeptSince {
  completed: number
  inProgress: number
}

/** Requests of the last 24 hours, in the durable store. Calls throw Unavailable. */
export interface IdempotencyStore {
  /**
   * Inserts a request in progress, unless one with its id is kept, which it returns as `found`. Of
   * concurrent calls, one returns a claim.
   */
  begin(
    request: IdempotentRequest,
    since: KeptSince,
  ): Promise<{ claim: RequestClaim } | { found: IdempotentRequest }>
  purge(beforeMs: number): Promise<void>
}
