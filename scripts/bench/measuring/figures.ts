/**
 * The value that the given share (0 to 1) of the values does not exceed: one of them, never one in between.
 * `sorted` is ascending and not empty.
 */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]
  if (value === undefined) throw new Error('there is no percentile of no values')
  return value
}

/** The middle one, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)]
  const lower = sorted[Math.ceil(sorted.length / 2) - 1]
  if (upper === undefined || lower === undefined) throw new Error('there is no median of no values')
  return (lower + upper) / 2
}

/**
 * The median of the ratios of each round, not the ratio of medians: what disturbs the machine for a while
 * disturbs both sides of a round, and cancels out.
 */
export function medianRatio(numerators: readonly number[], denominators: readonly number[]) {
  return median(numerators.map((value, round) => value / (denominators[round] ?? Number.NaN)))
}
