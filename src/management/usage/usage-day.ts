import { DAY_MS } from '../../lib/durations.ts'

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** The UTC day of an instant, `YYYY-MM-DD`. */
export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}

/** The UTC day that is this number of days before that of the instant. */
export function dayBefore(atMs: number, days: number): string {
  return dayOf(atMs - days * DAY_MS)
}

/** The first instant after the UTC day of `atMs`, epoch milliseconds. */
export function endOfDay(atMs: number): number {
  return (Math.floor(atMs / DAY_MS) + 1) * DAY_MS
}

/** Whether the text is a day of the calendar, `YYYY-MM-DD`. */
export function isDay(text: string): boolean {
  const at = DAY.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  return !Number.isNaN(at) && dayOf(at) === text
}
