import { percentile } from '../../../scripts/bench/measuring/figures.ts'
import { checkResponse, type Violation } from './check-response.ts'
import type { Outcome, TrafficRequest } from './request.ts'

/** What came of the requests of a while. */
export interface ResponseStats {
  readonly total: number
  /** Answers by status. */
  readonly statuses: ReadonlyMap<number, number>
  readonly violations: Readonly<Record<Violation['kind'], number>>
  /** Times that an account was told that it asks too much. */
  readonly limited: number
  /** What the first of the faults were, those apart that were turned away. */
  readonly reported: readonly string[]
  add(ask: TrafficRequest, outcome: Outcome, mayFail: boolean): void
  /** Milliseconds that a share (0 to 1) of all took at most; NaN of none. */
  percentileMs(share: number): number
}

const MAX_REPORTED = 5

export function createResponseStats(): ResponseStats {
  const statuses = new Map<number, number>()
  const faults = { hung: 0, 'off contract': 0, 'wrong page': 0, 'turned away': 0 }
  const told: string[] = []
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
    reported: told,

    add(ask, outcome, mayFail) {
      const status = 'status' in outcome ? outcome.status : undefined
      took.push(outcome.ms)
      if (status !== undefined) statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (ask.isRateLimited && status === 429) limited += 1
      const fault = checkResponse(ask, outcome, mayFail)
      if (fault === undefined) return
      faults[fault.kind] += 1
      if (fault.kind !== 'turned away' && told.length < MAX_REPORTED)
        told.push(`${fault.kind}: ${fault.what}`)
    },

    percentileMs(share) {
      const sorted = Float64Array.from(took).sort()
      return sorted.length === 0 ? Number.NaN : percentile(sorted, share)
    },
  }
}
