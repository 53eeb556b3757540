/** How many values were at most `le`, for each bound, ascending; the last bound is infinite. */
export type Buckets = readonly { le: number; count: number }[]

/** A histogram without labels in the text of `/metrics`. */
export function readBuckets(metrics: string, name: string): Buckets {
  const lines = metrics.matchAll(new RegExp(`^${name}_bucket\\{le="([^"]+)"\\} (\\S+)`, 'gm'))
  return [...lines].map(([, le, count]) => {
    return { le: le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), count: Number(count) }
  })
}

/** The values that were added between two readings. */
export function bucketsSince(before: Buckets, after: Buckets): Buckets {
  return after.map(({ le, count }, at) => ({ le, count: count - (before[at]?.count ?? 0) }))
}

/**
 * The value that a share (0 to 1) of the values does not exceed, as Prometheus estimates it: values are
 * spread evenly in each bucket, and a value beyond the last finite bound counts as that bound. NaN where
 * there are no values.
 */
export function estimatePercentile(buckets: Buckets, share: number): number {
  const rank = share * (buckets.at(-1)?.count ?? 0)
  const at = buckets.findIndex(({ count }) => count > 0 && count >= rank)
  const found = buckets[at]
  if (found === undefined) return Number.NaN
  const { le: lower, count: below } = buckets[at - 1] ?? { le: 0, count: 0 }
  if (found.le === Number.POSITIVE_INFINITY) return lower
  return lower + ((found.le - lower) * (rank - below)) / (found.count - below)
}
