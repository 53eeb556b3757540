import { MINUTE_MS } from './durations.ts'

const DATE = '(\\d{4})-(\\d{2})-(\\d{2})'
const TIME = '(\\d{2}):(\\d{2}):(\\d{2})(?:\\.(\\d+))?'
const INSTANT = new RegExp(`^${DATE}[Tt]${TIME}(?:[Zz]|([+-])(\\d{2}):(\\d{2}))$`)
const DATE_ALONE = new RegExp(`^${DATE}$`)
const ZONELESS = new RegExp(`^${DATE}[Tt]${TIME}$`)
const PLUS_READ_AS_SPACE = new RegExp(`^${DATE}[Tt]${TIME} \\d{2}:\\d{2}$`)

/** Why a text is not an instant; the API has an error message for each. */
export type InvalidInstantReason =
  | 'date-alone'
  | 'no-zone'
  | 'plus-read-as-space'
  | 'impossible'
  | 'malformed'

/** An instant in epoch milliseconds, rounded down and up from finer fractions. */
export interface Instant {
  floorMs: number
  ceilMs: number
}

/**
 * Parses an RFC 3339 date-time, which requires time and zone. `Date` cannot: it converts February
 * 30 to March 2, and assumes local time without a zone.
 */
export function parseInstant(text: string): Instant | InvalidInstantReason {
  const parsed = parseInstantBound(text)
  if (typeof parsed === 'string') return parsed
  return hasFourDigitYear(parsed.floorMs) ? parsed : 'impossible'
}

/**
 * The same, also for the hours that only an offset puts before the year 0 or after 9999 in UTC.
 * Such an instant has no text in the format of the API, but is a bound like any other.
 */
export function parseInstantBound(text: string): Instant | InvalidInstantReason {
  const plain = parsePlainInstant(text) // Fast path: indexing parses a dozen instants per order.
  if (plain !== null) return { floorMs: plain, ceilMs: plain }
  const parts = INSTANT.exec(text)
  if (parts === null) return invalidReason(text)

  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as SixNumbers
  const [fraction = '', sign, zoneHour = '0', zoneMinute = '0'] = parts.slice(7)
  const impossible =
    month < 1 ||
    month > 12 ||
    day < 1 ||
    day > daysInMonth(year, month) ||
    hour > 23 ||
    minute > 59 ||
    second > 59 ||
    Number(zoneHour) > 23 ||
    Number(zoneMinute) > 59
  if (impossible) return 'impossible'

  // Date.UTC maps the years 0 to 99 to 1900 to 1999; setUTCFullYear does not.
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, second, Number(fraction.slice(0, 3).padEnd(3, '0')))
  const offsetMs = (Number(zoneHour) * 60 + Number(zoneMinute)) * MINUTE_MS
  const floorMs = date.getTime() - (sign === '-' ? -offsetMs : offsetMs)
  const hasSubMillisecond = /[1-9]/.test(fraction.slice(3))
  return { floorMs, ceilMs: hasSubMillisecond ? floorMs + 1 : floorMs }
}

const [HYPHEN, POINT, COLON, UPPER_T, UPPER_Z, ZERO] = [0x2d, 0x2e, 0x3a, 0x54, 0x5a, 0x30]

/**
 * Epoch milliseconds of the common form, `YYYY-MM-DDTHH:MM:SSZ` or with milliseconds, on a day that
 * exists in every month. `null` for any other text.
 */
function parsePlainInstant(text: string): number | null {
  const hasMs = text.length === 24
  const isForm =
    (hasMs ? text.charCodeAt(19) === POINT : text.length === 20) &&
    text.charCodeAt(4) === HYPHEN &&
    text.charCodeAt(7) === HYPHEN &&
    text.charCodeAt(10) === UPPER_T &&
    text.charCodeAt(13) === COLON &&
    text.charCodeAt(16) === COLON &&
    text.charCodeAt(text.length - 1) === UPPER_Z
  if (!isForm) return null
  const year = digitsAt(text, 0, 4)
  const month = digitsAt(text, 5, 2)
  const day = digitsAt(text, 8, 2)
  const hour = digitsAt(text, 11, 2)
  const minute = digitsAt(text, 14, 2)
  const second = digitsAt(text, 17, 2)
  const ms = hasMs ? digitsAt(text, 20, 3) : 0
  // Date.UTC maps the years 0 to 99 to 1900 to 1999.
  const isDate = year >= 100 && month >= 1 && month <= 12 && day >= 1 && day <= 28
  if (!isDate || !(hour <= 23 && minute <= 59 && second <= 59 && ms <= 999)) return null
  return Date.UTC(year, month - 1, day, hour, minute, second, ms)
}

/** The number with these digits; NaN when another character is among them. */
function digitsAt(text: string, start: number, count: number): number {
  let value = 0
  for (let at = start; at < start + count; at++) {
    const digit = text.charCodeAt(at) - ZERO
    if (digit < 0 || digit > 9) return Number.NaN
    value = value * 10 + digit
  }
  return value
}

/** Whether the API has a text for an instant; RFC 3339 years have four digits. */
export function hasFourDigitYear(epochMs: number): boolean {
  return epochMs >= FIRST_MS && epochMs <= LAST_MS
}

/** Formats an instant as the API does: UTC with milliseconds. */
export function formatInstant(epochMs: number): string {
  return new Date(epochMs).toISOString()
}

/** The same for an instant that may be absent. */
export function formatInstantOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : formatInstant(epochMs)
}

/** Epoch milliseconds of a validated instant; finer digits are dropped. */
export function toEpochMs(validated: string): number {
  const instant = parseInstant(validated)
  if (typeof instant === 'string') throw new Error(`the instant was not validated: ${instant}`)
  return instant.floorMs
}

/** An instant down to its finest digit. */
export interface ExactInstant {
  floorMs: number
  /** The digits after the milliseconds, without zeros at their end. */
  finerDigits: string
}

/** Reads a validated instant once, for many comparisons. */
export function toExactInstant(validated: string): ExactInstant {
  const [, digits = ''] = /\.\d{3}(\d*)/.exec(validated) ?? []
  // A regular expression would search for the end of the zeros from each of them.
  let length = digits.length
  while (length > 0 && digits.charCodeAt(length - 1) === ZERO) length -= 1
  return { floorMs: toEpochMs(validated), finerDigits: digits.slice(0, length) }
}

/** Compares two instants: above 0 when `one` is later. */
export function compareInstants(one: ExactInstant, other: ExactInstant): number {
  const differenceMs = one.floorMs - other.floorMs
  if (differenceMs !== 0 || one.finerDigits === other.finerDigits) return differenceMs
  return one.finerDigits > other.finerDigits ? 1 : -1
}

// Most instants already have the format of the API, and an order has a dozen.
const PUBLIC_FORMAT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** A validated instant in the format of the API. */
export function toPublicInstant(validated: string): string {
  return PUBLIC_FORMAT.test(validated) ? validated : formatInstant(toEpochMs(validated))
}

/** The same for an optional instant; absent becomes null. */
export function toPublicInstantOrNull(validated: string | null | undefined): string | null {
  return validated == null ? null : toPublicInstant(validated)
}

type SixNumbers = [number, number, number, number, number, number]

const FIRST_MS = new Date('0000-01-01T00:00:00.000Z').getTime()
const LAST_MS = new Date('9999-12-31T23:59:59.999Z').getTime()

function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}

function isLeapYear(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
}

function invalidReason(text: string): InvalidInstantReason {
  if (DATE_ALONE.test(text)) return 'date-alone'
  if (ZONELESS.test(text)) return 'no-zone'
  if (PLUS_READ_AS_SPACE.test(text)) return 'plus-read-as-space'
  return 'malformed'
}
