import type { Item } from '../../../client/client.ts'
import { brasiliaTime } from '../../dates/brasilia-time.ts'
import type { Kind } from '../../order-columns.ts'
import { escapeFormula } from './escape-formula.ts'

/** A cell that a Brazilian Excel reads with its type: number, instant or text. */
export function brazilianCell(value: unknown, kind: Kind): string {
  if (typeof value === 'number') {
    if (kind === 'cents' && Number.isSafeInteger(value)) return formatReais(value)
    return decimalComma(value)
  }
  if (kind === 'items' && Array.isArray(value)) return escapeFormula(itemsText(value))
  if (typeof value === 'object') return escapeFormula(JSON.stringify(value))
  const text = String(value)
  const shown = kind === 'instant' ? brasiliaTime(text) : null
  return shown ?? escapeFormula(text)
}

/** 2 × Curso de violão (198,00) | 1 × Apostila (20,00) */
export const itemsText = (items: readonly Item[]) => items.map(itemText).join(' | ')

function itemText({ quantity, name, sub_total }: Item): string {
  return `${quantity} × ${name} (${formatReais(sub_total)})`
}

/** Cents as a decimal amount, by text alone, because a float would lose digits. */
export function formatReais(cents: number): string {
  const digits = String(Math.abs(cents)).padStart(3, '0')
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)},${digits.slice(-2)}`
}

const NUMBER_FORMAT = { useGrouping: false, maximumSignificantDigits: 17 }

/**
 * A number without thousands separators and without an exponent, which Excel would display. From
 * English, because a Node with little locale data formats Portuguese as English.
 */
export function decimalComma(number: number): string {
  return number.toLocaleString('en-US', NUMBER_FORMAT).replace('.', ',')
}
