import type { HistoryEntry } from './entry.ts'

/** A ratio of a run beside those of the runs before it. */
export interface Trend {
  /** The part and the ratio's own name. */
  name: string
  now: number
  /** Absent in the first run that measured it. */
  past: { last: number; best: number; worst: number; runs: number } | undefined
  /** Beyond what the runs before it differ by. */
  isWorse: boolean
}

/** So many runs back: what is older says less of the code as it is. */
const RUNS = 10
/** Of fewer, nobody knows by how much runs of the same code differ. */
const RUNS_TO_JUDGE = 3
/** Of the worst run so far: two runs of the same code are no closer than that. */
const TOLERANCE = 0.05

/** Whether figures may be compared: the same kind of machine, and as many orders. */
export function isAlike(a: HistoryEntry, b: HistoryEntry): boolean {
  const form = ({ facts: { cpu, cpus }, options: { orders } }: HistoryEntry) =>
    JSON.stringify([cpu, cpus, orders])
  return form(a) === form(b)
}

/** Each ratio of a run beside those of the last runs that may be compared with it; `past`: the oldest first. */
export function trendsOf(run: HistoryEntry, past: readonly HistoryEntry[]): Trend[] {
  const alike = past.filter((entry) => isAlike(entry, run))
  return Object.entries(run.parts).flatMap(([part, { ratios, costs }]) => [
    ...Object.entries(ratios).map(([name, now]) => {
      const before = alike.flatMap((entry) => entry.parts[part]?.ratios[name] ?? [])
      return trendOf({ name: `${part}: ${name}`, now, before, isCost: false })
    }),
    ...Object.entries(costs).map(([name, now]) => {
      const before = alike.flatMap((entry) => entry.parts[part]?.costs[name] ?? [])
      return trendOf({ name: `${part}: ${name}`, now, before, isCost: true })
    }),
  ])
}

interface Measured {
  name: string
  now: number
  before: readonly number[]
  isCost: boolean
}

function trendOf({ name, now, before, isCost }: Measured): Trend {
  const recent = before.slice(-RUNS)
  const last = recent.at(-1)
  if (last === undefined) return { name, now, past: undefined, isWorse: false }
  const [least, most] = [Math.min(...recent), Math.max(...recent)]
  const [best, worst] = isCost ? [least, most] : [most, least]
  const isBeyond = isCost ? now > worst * (1 + TOLERANCE) : now < worst * (1 - TOLERANCE)
  const runs = recent.length
  return {
    name,
    now,
    past: { last, best, worst, runs },
    isWorse: isBeyond && runs >= RUNS_TO_JUDGE,
  }
}
