/**
 * The value that the given share (0 to 1) of the values does not exceed: always one of them, never
 * interpolated, or NaN where there are none. `sorted` is ascending.
 */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

/** The middle value, or the mean of the two in the middle; NaN where there are none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const { length } = sorted
  const [lower, upper] = [sorted[Math.ceil(length / 2) - 1], sorted[Math.floor(length / 2)]]
  return ((lower ?? Number.NaN) + (upper ?? Number.NaN)) / 2
}

/**
 * The median of the ratios of each round, not the ratio of the medians: a disturbance of the
 * machine slows both contenders of a round and cancels out.
 */
export function medianRatio(numerators: readonly number[], denominators: readonly number[]) {
  return median(numerators.map((value, round) => value / (denominators[round] ?? Number.NaN)))
}

/** The median of the differences of each round, as {@link medianRatio}. */
export function medianDifference(values: readonly number[], less: readonly number[]): number {
  return median(values.map((value, round) => value - (less[round] ?? Number.NaN)))
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
