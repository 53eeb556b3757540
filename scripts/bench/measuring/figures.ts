/**
 * The value that the given share (0 to 1) of the values does not exceed: always one of them, never
 * interpolated. `sorted` is ascending and not empty.
 */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]
  if (value === undefined) throw new Error('there is no percentile of no values')
  return value
}

/** The middle value, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)]
  const lower = sorted[Math.ceil(sorted.length / 2) - 1]
  if (upper === undefined || lower === undefined) throw new Error('there is no median of no values')
  return (lower + upper) / 2
}

/**
 * The median of the ratios of each round, not the ratio of the medians: a disturbance of the machine
 * slows both contenders of a round and cancels out.
 */
export function medianRatio(numerators: readonly number[], denominators: readonly number[]) {
  return median(numerators.map((value, round) => value / (denominators[round] ?? Number.NaN)))
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

const TOTALS = [
  'answers',
  'failures',
  'served',
  'shed',
  'limited',
  'shown',
  'overtaken',
  'missed',
  'changes',
]
const GREATEST = ['max', 'most', 'mostMs', 'peakBytes', 'recoveryMs', 'operationsMs']

/**
 * Combines the samples of all rounds into one: counts add up, maxima stay the greatest of all rounds,
 * and every other figure is the median of the rounds.
 */
export function summarize<S extends object>(samples: readonly S[]): S {
  return combined(samples) as S
}

function combined(samples: readonly object[], isTotal = false): object {
  const entries = samples.flatMap((sample) => Object.entries(sample))
  const byName = Map.groupBy(entries, ([name]) => name)
  const figures = [...byName].map(([name, named]) => {
    const values = named.map(([, value]) => value).filter((value) => value !== undefined)
    if (typeof values[0] === 'object') return [name, combined(values, TOTALS.includes(name))]
    if (isTotal || TOTALS.includes(name)) return [name, sum(values)]
    return [name, GREATEST.includes(name) ? Math.max(...values) : median(values)]
  })
  return Object.fromEntries(figures)
}
