import { formatInstant, parseInstant } from '../../lib/instant.ts'

/** Epoch milliseconds of an instant that the schema of the source has checked; finer parts are cut. */
export function epochMs(checked: string): number {
  const instant = parseInstant(checked)
  if (typeof instant === 'string') throw new Error(`an instant that was not checked: ${instant}`)
  return instant.floorMs
}

/** Which of two checked instants is later, down to their finest digit: above 0 when `one` is. */
export function compareInstants(one: string, other: string): number {
  const apart = epochMs(one) - epochMs(other)
  if (apart !== 0) return apart
  const [oneFiner, otherFiner] = [finerDigits(one), finerDigits(other)]
  return oneFiner === otherFiner ? 0 : oneFiner > otherFiner ? 1 : -1
}

/** The digits behind the milliseconds, which compare as text. */
function finerDigits(checked: string): string {
  const [, digits = ''] = /\.\d{3}(\d*)/.exec(checked) ?? []
  return digits.replace(/0+$/, '')
}

// Most come as the API writes them, and an order has a dozen.
const PUBLIC_FORM = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** A checked instant as the API writes it. */
export function publicInstant(checked: string): string {
  return PUBLIC_FORM.test(checked) ? checked : formatInstant(epochMs(checked))
}

/** The same; absent is null. */
export function publicInstantOrNull(checked: string | null | undefined): string | null {
  return checked == null ? null : publicInstant(checked)
}
