import type { ValidationError } from '../../indexing/projection/change.ts'
import { monotonicClock } from '../../lib/clock.ts'

/** The counts of a summary in one line: `read: 3, refused: 1`. */
export function summaryText(counts: object): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name.replaceAll('_', ' ')}: ${count}`)
    .join(', ')
}

/** The line for a rejected entry. `place`: where it was read, such as `line 12`. */
export function rejectionText(place: string, { path, reason }: ValidationError): string {
  return [place, path, reason].filter(Boolean).join(': ')
}

/** Seconds since an instant of the monotonic clock, with one decimal. */
export function secondsSince(startedAt: number): number {
  return Math.round((monotonicClock() - startedAt) / 100) / 10
}
