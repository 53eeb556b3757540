/** A request and the expected response of a healthy service. */
export interface TrafficRequest {
  path: string
  headers: Record<string, string>
  /** The allowed statuses while every service responds. */
  expectedStatuses: readonly number[]
  /** Whether the response needs OpenSearch: while OpenSearch is faulty, 503 is allowed too. */
  needsStore: boolean
  /** Whether the key is valid, so that every response has the rate-limit headers of its account. */
  isRateLimited: boolean
  /** Describes a violation in the body of a 200. */
  checkBody?(body: unknown): string | undefined
  /** Called once the response has arrived or can no longer arrive. */
  onSettled?(): void
}

/** A complete response. */
export interface TrafficResponse {
  status: number
  headers: Record<string, unknown>
  json: unknown
  ms: number
}

/** No complete response: a timeout or a broken connection. */
export interface NoResponse {
  failure: 'hung' | 'broken'
  reason: string
  ms: number
}

/** The outcome of a request. */
export type Outcome = TrafficResponse | NoResponse
