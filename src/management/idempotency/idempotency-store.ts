/** A request with an `Idempotency-Key`, and its response once it exists. */
export interface IdempotentRequest {
  /** Derived from the token's name, the route and the key. */
  id: string
  /** SHA-256 of the body. */
  bodyDigest: string
  /** Of its begin, or the last renewal of its claim; epoch milliseconds. */
  createdAt: number
  /** `null` while the first request is in progress. */
  response: { status: number; body: string } | null
}

/** The right to run a request, which ends when another call begins the same one. */
export interface RequestClaim {
  id: string
  /** Those that its begin and its renewals stored, or may have stored. */
  createdAt: readonly number[]
}

/** The earliest `createdAt` of the requests that are not replaced; epoch milliseconds. */
export interface KeptSince {
  completed: number
  inProgress: number
}

/** Requests of the last 24 hours, in the durable store. Calls throw Unavailable. */
export interface IdempotencyStore {
  /**
   * Inserts a request in progress, unless one with its id is kept. Returns that one, or `null` once
   * inserted. Of concurrent calls, one returns `null`.
   */
  begin(request: IdempotentRequest, since: KeptSince): Promise<IdempotentRequest | null>
  /** Replaces `createdAt` of a request in progress. Does nothing once the claim has ended. */
  renew(claim: RequestClaim, createdAt: number): Promise<void>
  /** Stores the response of a request in progress. Does nothing once the claim has ended. */
  complete(claim: RequestClaim, response: NonNullable<IdempotentRequest['response']>): Promise<void>
  /**
   * Removes a request that changed nothing, so that its key can be used again. Does nothing once the
   * claim has ended.
   */
  forget(claim: RequestClaim): Promise<void>
  purge(beforeMs: number): Promise<void>
}
