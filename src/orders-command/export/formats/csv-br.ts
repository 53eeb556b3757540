import type { Item } from '../../../client/client.ts'
import { createBrasiliaTime } from './brasilia-time.ts'
import type { Kind } from './columns.ts'
import { decimalComma, reais } from './decimal-comma.ts'
import { guarded } from './excel-text.ts'

const brasiliaTime = createBrasiliaTime()

/** A cell that a Brazilian Excel opens as what it is: numbers and instants as such, text as text. */
export function brazilianCell(value: unknown, kind: Kind): string {
  if (typeof value === 'number') {
    if (kind === 'cents' && Number.isSafeInteger(value)) return reais(value)
    return decimalComma(value)
  }
  if (kind === 'items' && Array.isArray(value)) return guarded(value.map(itemText).join(' | '))
  if (typeof value === 'object') return guarded(JSON.stringify(value))
  const text = String(value)
  const shown = kind === 'instant' ? brasiliaTime(text) : null
  return shown ?? guarded(text)
}

/** 2 × Curso de violão (198,00) */
function itemText({ quantity, name, sub_total }: Item): string {
  return `${quantity} × ${name} (${reais(sub_total)})`
}
