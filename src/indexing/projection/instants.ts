import { formatInstant, parseInstant } from '../../lib/instant.ts'

/** Epoch milliseconds of an instant that passed the source schema; finer digits are dropped. */
export function epochMs(validated: string): number {
  const instant = parseInstant(validated)
  if (typeof instant === 'string')
    throw new Error(`an instant did not pass the source schema: ${instant}`)
  return instant.floorMs
}

/** Compares two checked instants down to their finest digit: above 0 when `one` is later. */
export function compareInstants(one: string, other: string): number {
  const differenceMs = epochMs(one) - epochMs(other)
  if (differenceMs !== 0) return differenceMs
  const [oneDigits, otherDigits] = [subMillisecondDigits(one), subMillisecondDigits(other)]
  return oneDigits === otherDigits ? 0 : oneDigits > otherDigits ? 1 : -1
}

/** The digits after the milliseconds, which compare as text. */
function subMillisecondDigits(validated: string): string {
  const [, digits = ''] = /\.\d{3}(\d*)/.exec(validated) ?? []
  return digits.replace(/0+$/, '')
}

// Most instants already have the format of the API, and an order has a dozen.
const PUBLIC_FORMAT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** A checked instant in the format of the API. */
export function toPublicInstant(validated: string): string {
  return PUBLIC_FORMAT.test(validated) ? validated : formatInstant(epochMs(validated))
}

/** The same for an optional instant; absent becomes null. */
export function toPublicInstantOrNull(validated: string | null | undefined): string | null {
  return validated == null ? null : toPublicInstant(validated)
}
