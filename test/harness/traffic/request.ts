/** A request and the expected response of a healthy service. */
export interface TrafficRequest {
  path: string
  headers: Record<string, string>
  /** The allowed statuses while every service responds. */
  expectedStatuses: readonly number[]
  /** Whether OpenSearch is asked for it: 503 is an answer, too, while that is in trouble. */
  needsStore: boolean
  /** Whether its key is known to be valid, so that its account's limits are told whatever the answer. */
  isRateLimited: boolean
  /** What is wrong with what a 200 showed. */
  checkBody?(body: unknown): string | undefined
  /** Called when it was answered, or never will be. */
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
