const TIME_ZONE = 'America/Sao_Paulo'
/**
 * March 1, 1900 in Brasília. Excel shows no date before 1900, and miscounts January and February of
 * that year.
 */
const FIRST_MS = Date.parse('1900-03-01T03:06:28Z')

const brasiliaFormat = new Intl.DateTimeFormat('pt-BR', {
  timeZone: TIME_ZONE,
  hourCycle: 'h23',
  day: '2-digit',
  month: '2-digit',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
})

/**
 * The fields of an instant in the time zone of Brasília; `null` if the text is not an instant, or
 * an instant that spreadsheets cannot show.
 */
function brasiliaFields(instant: string): Record<string, string> | null {
  const epochMs = Date.parse(instant)
  if (Number.isNaN(epochMs) || epochMs < FIRST_MS) return null
  const parts = brasiliaFormat
    .formatToParts(epochMs)
    .map(({ type, value }) => [type, value] as const)
  return Object.fromEntries(parts)
}

/**
 * An instant as `dd/mm/aaaa hh:mm:ss` in the time zone of Brasília, which had daylight saving time
 * until 2019, without milliseconds; `null` if the text is not an instant since March 1900.
 */
export function brasiliaTime(instant: string): string | null {
  const fields = brasiliaFields(instant)
  if (fields === null) return null
  const { day, month, year = '', hour, minute, second } = fields
  return `${day}/${month}/${year.padStart(4, '0')} ${hour}:${minute}:${second}`
}

/**
 * A date whose UTC fields are those of the instant in Brasília, for spreadsheets, whose dates have
 * no time zone; `null` if the text is not an instant since March 1900.
 */
export function brasiliaDate(instant: string): Date | null {
  const fields = brasiliaFields(instant)
  if (fields === null) return null
  const { day, month, year = '', hour, minute, second } = fields
  return new Date(`${year.padStart(4, '0')}-${month}-${day}T${hour}:${minute}:${second}Z`)
}
