import { formatInstant, parseInstant } from '../../lib/instant.ts'

/** Epoch milliseconds of an instant that the schema of the source has checked; finer parts are cut. */
export function epochMs(validated: string): number {
  const instant = parseInstant(validated)
  if (typeof instant === 'string') throw new Error(`an instant that was not checked: ${instant}`)
  return instant.floorMs
}

/** Which of two checked instants is later, down to their finest digit: above 0 when `one` is. */
export function compareInstants(one: string, other: string): number {
  const differenceMs = epochMs(one) - epochMs(other)
  if (differenceMs !== 0) return differenceMs
  const [oneDigits, otherDigits] = [subMillisecondDigits(one), subMillisecondDigits(other)]
  return oneDigits === otherDigits ? 0 : oneDigits > otherDigits ? 1 : -1
}

/** The digits behind the milliseconds, which compare as text. */
function subMillisecondDigits(validated: string): string {
  const [, digits = ''] = /\.\d{3}(\d*)/.exec(validated) ?? []
  return digits.replace(/0+$/, '')
}

// Most come as the API writes them, and an order has a dozen.
const PUBLIC_FORMAT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** A checked instant as the API writes it. */
export function toPublicInstant(validated: string): string {
  return PUBLIC_FORMAT.test(validated) ? validated : formatInstant(epochMs(validated))
}

/** The same; absent is null. */
export function toPublicInstantOrNull(validated: string | null | undefined): string | null {
  return validated == null ? null : toPublicInstant(validated)
}
