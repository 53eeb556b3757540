import type { Item } from '../../../client/client.ts'
import type { Kind } from './columns.ts'
import { escapeFormula } from './escape-formula.ts'

/** A cell that a Brazilian Excel reads with its type: number, instant or text. */
export function brazilianCell(value: unknown, kind: Kind): string {
  if (typeof value === 'number') {
    if (kind === 'cents' && Number.isSafeInteger(value)) return formatReais(value)
    return decimalComma(value)
  }
  if (kind === 'items' && Array.isArray(value))
    return escapeFormula(value.map(itemText).join(' | '))
  if (typeof value === 'object') return escapeFormula(JSON.stringify(value))
  const text = String(value)
  const shown = kind === 'instant' ? brasiliaTime(text) : null
  return shown ?? escapeFormula(text)
}

/** 2 × Curso de violão (198,00) */
function itemText({ quantity, name, sub_total }: Item): string {
  return `${quantity} × ${name} (${formatReais(sub_total)})`
}

const brasiliaFormat = new Intl.DateTimeFormat('pt-BR', {
  timeZone: 'America/Sao_Paulo',
  hourCycle: 'h23',
  day: '2-digit',
  month: '2-digit',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
})

/**
 * An instant as `dd/mm/aaaa hh:mm:ss` in the time zone of Brasília, which had daylight saving time
 * until 2019, without milliseconds; `null` if the text is not an instant.
 */
export function brasiliaTime(instant: string): string | null {
  const epochMs = Date.parse(instant)
  if (Number.isNaN(epochMs)) return null
  const parts = brasiliaFormat
    .formatToParts(epochMs)
    .map(({ type, value }) => [type, value] as const)
  const { day, month, year = '', hour, minute, second } = Object.fromEntries(parts)
  return `${day}/${month}/${year.padStart(4, '0')} ${hour}:${minute}:${second}`
}

/** Cents as a decimal amount, by text alone, because a float would lose digits. */
export function formatReais(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0')
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)},${digits.slice(-2)}`
}

const NUMBER_FORMAT = { useGrouping: false, maximumSignificantDigits: 17 }

/** A number without thousands separators and without an exponent, which Excel would display. */
export function decimalComma(number: number): string {
  return number.toLocaleString('pt-BR', NUMBER_FORMAT)
}
