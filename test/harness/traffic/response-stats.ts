import { percentile } from '../statistics.ts'
import { checkResponse, type Violation } from './check-response.ts'
import type { Outcome, TrafficRequest } from './request.ts'

/** The outcomes of the requests of a period. */
export interface ResponseStats {
  readonly total: number
  /** Responses by status. */
  readonly statuses: ReadonlyMap<number, number>
  readonly violations: Readonly<Record<Violation['kind'], number>>
  /** How many requests were rate limited. */
  readonly limited: number
  /** The first violations, except load shedding. */
  readonly reported: readonly string[]
  add(request: TrafficRequest, outcome: Outcome, mayFail: boolean): void
  /** The latency quantile (0 to 1) in milliseconds; NaN without requests. */
  percentileMs(share: number): number
}

const MAX_REPORTED = 5

export function createResponseStats(): ResponseStats {
  const statuses = new Map<number, number>()
  const faults = { hung: 0, 'off contract': 0, 'wrong page': 0, shed: 0 }
  const reported: string[] = []
  const took: number[] = []
  let limited = 0

  return {
    get total() {
      return took.length
    },
    statuses,
    violations: faults,
    get limited() {
      return limited
    },
    reported,

    add(request, outcome, mayFail) {
      const status = 'status' in outcome ? outcome.status : undefined
      took.push(outcome.ms)
      if (status !== undefined) statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (request.isRateLimited && status === 429) limited += 1
      const fault = checkResponse(request, outcome, mayFail)
      if (fault === undefined) return
      faults[fault.kind] += 1
      if (fault.kind !== 'shed' && reported.length < MAX_REPORTED)
        reported.push(`${fault.kind}: ${fault.what}`)
    },

    percentileMs(share) {
      const sorted = Float64Array.from(took).sort()
      return sorted.length === 0 ? Number.NaN : percentile(sorted, share)
    },
  }
}
