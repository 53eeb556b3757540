/** One POST to an endpoint. */
export interface OutgoingRequest {
  url: string
  headers: Readonly<Record<string, string>>
  body: Uint8Array
}

/** The outcome of one attempt. A 2xx status without an error is a success. */
export interface SendResult {
  /** `null` without a response. */
  status: number | null
  /** Why the attempt failed, for the owner of the endpoint: no address of the network. */
  error: string | null
  /** From `Retry-After`, in milliseconds; `null` when it is absent or invalid. */
  retryAfterMs: number | null
  durationMs: number
  /** At most 512 bytes of the response body, as text. */
  excerpt: string | null
}

/** Sends requests of the dispatcher. */
export interface Sender {
  /** Never throws for what the receiver or the network does. */
  send(request: OutgoingRequest): Promise<SendResult>
  /**
   * Closes idle connections, and waits for the requests in flight, at most `graceMs`. Then it ends
   * them: their attempts fail.
   */
  close(graceMs: number): Promise<void>
}
