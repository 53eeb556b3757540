import type { Sample } from '../../../scripts/bench/measuring/race.ts'

/** A measurement with a rate; each request uses the given CPU times and memory. */
export function sampleOf(
  perSecond: number,
  { openSearch = 1e6 / perSecond, api = 0, megabytes = 0, failures = {} } = {},
): Sample {
  return {
    answers: 10 * perSecond,
    perSecond,
    p50Ms: 1000 / perSecond,
    p99Ms: 5000 / perSecond,
    failures,
    cpu: { openSearch, redis: 50, api, bench: 1 },
    ...(megabytes > 0 && { residentBytes: megabytes * 2 ** 20 }),
  }
}
