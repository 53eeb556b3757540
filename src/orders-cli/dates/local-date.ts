import { brasiliaTime } from './brasilia-time.ts'

const DATE = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/
/** Any text of this kind is meant as a date, also an impossible one. */
const DATE_LIKE = /^\d+\/\d+(\/\d*)?$/

/** `null`: the text is no date, and may be an instant. `invalid`: the date does not exist. */
export type LocalDate = { instant: string } | 'invalid' | null

/**
 * The first instant of a day such as 01/03/2026 in the time zone of Brasília, in which `csv-br` and
 * `xlsx` show instants too. Day before month, as in Brazil.
 */
export function parseLocalDate(text: string): LocalDate {
  const [, day, month, year] = DATE.exec(text) ?? []
  if (day === undefined || month === undefined || year === undefined) {
    return DATE_LIKE.test(text) ? 'invalid' : null
  }
  const iso = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  const midnightUtc = Date.parse(`${iso}T00:00:00Z`)
  // `Date.parse` turns 31/02 into 03/03.
  const exists =
    !Number.isNaN(midnightUtc) && new Date(midnightUtc).toISOString().startsWith(`${iso}T`)
  if (!exists) return 'invalid'
  // Daylight saving time, until 2019, began at midnight: that day starts at 01:00 -02:00, which is
  // midnight at -03:00.
  const summer = `${iso}T00:00:00-02:00`
  const isSummer = brasiliaTime(summer)?.endsWith(' 00:00:00') ?? false
  return { instant: isSummer ? summer : `${iso}T00:00:00-03:00` }
}
