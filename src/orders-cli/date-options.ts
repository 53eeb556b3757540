import { usageError } from './errors.ts'
import { parseLocalDate } from './local-date.ts'

/** `--created-gte`, `--updated-lt` and so on. */
const DATE_OPTION = /-(gte|lt)$|^since$/

/**
 * The values of the options, with dates such as 01/03/2026 replaced by their first instant.
 * `print` receives a line per replaced date, because the time zone is a choice of this program.
 * @throws UsageError for a date that does not exist
 */
export function resolveDates<Text extends Partial<Record<string, string>>>(
  command: string,
  text: Text,
  print: (line: string) => void,
): Text {
  const entries = Object.entries(text).map(([name, value]) => {
    const date = DATE_OPTION.test(name) && value !== undefined ? parseLocalDate(value) : null
    if (date === null) return [name, value]
    if (date === 'invalid') {
      throw usageError(
        `--${name}: "${value}" não é uma data. Escreva dia/mês/ano, como 01/03/2026.`,
        command,
      )
    }
    print(`--${name} ${value}: ${date.instant}, o início do dia no horário de Brasília`)
    return [name, date.instant]
  })
  return Object.fromEntries(entries)
}
