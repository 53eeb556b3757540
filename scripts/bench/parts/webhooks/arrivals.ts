import { percentile } from '../../../../test/harness/statistics.ts'
import type { Sample } from '../../report.ts'

/** A POST that the receiver got. */
export interface Arrival {
  /** Its `webhook-id`. */
  id: string
  orderId: string
  /** The sequence of the event. */
  sequence: number
  /** When its last byte arrived, epoch milliseconds with fractions. */
  atMs: number
}

/** A group of endpoints, as the receiver counted its requests. */
export interface GroupCounts {
  /** Of different events. */
  arrivals: number
  /** Requests without a response of the receiver yet, at most, of any endpoint of the group. */
  maxInFlight: number
  /** Epoch milliseconds; 0 before the first. */
  firstAtMs: number
  lastAtMs: number
}

const LOST = 'an event that never arrived'
const REPEATED = 'an event that arrived twice'
const UNKNOWN = 'an event that was never written'
const DISORDERED = 'an event after a later one of its order'

/**
 * The latencies of orders that have one event each, from the confirmation of the write (epoch
 * milliseconds) to the arrival. What did not arrive exactly once is a failure.
 */
export function latencyFigures(
  confirmedAt: ReadonlyMap<string, number>,
  arrivals: readonly Arrival[],
): Sample {
  const firstAt = new Map<string, number>()
  for (const { orderId, atMs } of arrivals) {
    if (!firstAt.has(orderId)) firstAt.set(orderId, atMs)
  }
  const took = [...confirmedAt].flatMap(([orderId, fromMs]) => {
    const atMs = firstAt.get(orderId)
    return atMs === undefined ? [] : [atMs - fromMs]
  })
  const sorted = Float64Array.from(took).sort()
  const at = (share: number) => percentile(sorted, share)
  return {
    answers: arrivals.length,
    failures: failuresOf(confirmedAt.keys(), arrivals, ({ orderId }) => orderId),
    ...{ p50Ms: at(0.5), p90Ms: at(0.9), p99Ms: at(0.99), maxMs: at(1) },
  }
}

/** Kind of wrong arrival → how often, where each expected event has to arrive exactly once. */
export function failuresOf(
  expected: Iterable<string>,
  arrivals: readonly Arrival[],
  keyOf: (arrival: Arrival) => string = ({ id }) => id,
): Record<string, number> {
  const due = new Set(expected)
  const seen = new Set<string>()
  const failures: Record<string, number> = {}
  const count = (what: string, times = 1) => {
    if (times > 0) failures[what] = (failures[what] ?? 0) + times
  }
  for (const arrival of arrivals) {
    const key = keyOf(arrival)
    if (seen.has(key)) count(REPEATED)
    else if (!due.delete(key)) count(UNKNOWN)
    seen.add(key)
  }
  count(LOST, due.size)
  return failures
}

/** How often an event arrived after a later one of its order, as a failure. */
export function disorderOf(arrivals: readonly Arrival[]): Record<string, number> {
  const latest = new Map<string, number>()
  let times = 0
  for (const { orderId, sequence } of arrivals) {
    if (sequence < (latest.get(orderId) ?? 0)) times += 1
    else latest.set(orderId, sequence)
  }
  return times === 0 ? {} : { [DISORDERED]: times }
}
