import { formatInstant, parseInstant } from '../lib/instant.ts'

/** Epoch milliseconds of an instant that the schema of the source has checked; finer parts are cut. */
export function epochMs(checked: string): number {
  const instant = parseInstant(checked)
  if (typeof instant === 'string') throw new Error(`an instant that was not checked: ${instant}`)
  return instant.floorMs
}

/** The same instant as the API writes it; absent is null. */
export function publicInstant(checked: string | null | undefined): string | null {
  return checked == null ? null : formatInstant(epochMs(checked))
}
