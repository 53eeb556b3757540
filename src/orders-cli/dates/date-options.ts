import { CommandLineError } from '../errors.ts'
import { parseLocalDate } from './local-date.ts'

/** `--created-gte`, `--updated-lt` and so on. */
const DATE_OPTION = /-(gte|lt)$|^since$/
const ISO_DATE = /^(\d{4})-(\d{2})-(\d{2})$/

/**
 * The values of the options, with dates such as 01/03/2026 replaced by their first instant.
 * `print` receives a line per replaced date, because the time zone is a choice of this program.
 * @throws UsageError for a date that does not exist, and in a filter for one such as 2026-03-01
 */
export function resolveDates<Text extends Partial<Record<string, string>>>(
  text: Text,
  print: (line: string) => void,
): Text {
  const entries = Object.entries(text).map(([name, value]) => {
    const date = DATE_OPTION.test(name) && value !== undefined ? parseLocalDate(value) : null
    if (date === null) {
      if (name !== 'since') rejectIsoDate(name, value)
      return [name, value]
    }
    if (date === 'invalid') throw noDate(name, value)
    print(`--${name} ${value}: ${date.instant}, o início do dia no horário de Brasília`)
    return [name, date.instant]
  })
  return Object.fromEntries(entries)
}

/** The API would reject it too, without the form of a date that only this program accepts. */
function rejectIsoDate(name: string, value: string | undefined): void {
  const [, year, month, day] = ISO_DATE.exec(value ?? '') ?? []
  if (!DATE_OPTION.test(name) || year === undefined) return
  const date = `${day}/${month}/${year}`
  if (parseLocalDate(date) === 'invalid') throw noDate(name, value)
  throw new CommandLineError(
    `--${name}: Faltam a hora e o fuso em "${value}". Para o início do dia em Brasília, escreva ${date}.`,
  )
}

const noDate = (name: string, value: string | undefined) =>
  new CommandLineError(
    `--${name}: "${value}" não é uma data. Escreva dia/mês/ano, como 01/03/2026.`,
  )
