/** A request, and what a service in health answers to it. */
export interface TrafficRequest {
  path: string
  headers: Record<string, string>
  /** The statuses that there may be while every service answers. */
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

/** A whole answer. */
export interface TrafficResponse {
  status: number
  headers: Record<string, unknown>
  json: unknown
  ms: number
}

/** No whole answer: none in time, or a connection that broke. */
export interface NoResponse {
  failure: 'hung' | 'broken'
  reason: string
  ms: number
}

/** What came of a request. */
export type Outcome = TrafficResponse | NoResponse
