import { percentile } from '../bench/figures.ts'
import type { Ask, Outcome } from './ask.ts'
import { type Fault, judge } from './judge.ts'

/** What came of the requests of a while. */
export interface Tally {
  readonly asked: number
  /** Answers by status. */
  readonly statuses: ReadonlyMap<number, number>
  readonly faults: Readonly<Record<Fault['kind'], number>>
  /** What the first of them were, those apart that were turned away. */
  readonly told: readonly string[]
  add(ask: Ask, outcome: Outcome, mayFail: boolean): void
  /** Milliseconds that a share (0 to 1) of all took at most; NaN of none. */
  percentileMs(share: number): number
}

const TOLD = 5

export function createTally(): Tally {
  const statuses = new Map<number, number>()
  const faults = { hung: 0, 'off contract': 0, 'wrong page': 0, 'turned away': 0 }
  const told: string[] = []
  const took: number[] = []

  return {
    get asked() {
      return took.length
    },
    statuses,
    faults,
    told,

    add(ask, outcome, mayFail) {
      took.push(outcome.ms)
      if ('status' in outcome) {
        statuses.set(outcome.status, (statuses.get(outcome.status) ?? 0) + 1)
      }
      const fault = judge(ask, outcome, mayFail)
      if (fault === undefined) return
      faults[fault.kind] += 1
      if (fault.kind !== 'turned away' && told.length < TOLD)
        told.push(`${fault.kind}: ${fault.what}`)
    },

    percentileMs(share) {
      return took.length === 0 ? Number.NaN : percentile(Float64Array.from(took).sort(), share)
    },
  }
}
