import { cellText, truncate } from './cell-text.ts'

/** Excel's limit for a string literal in a formula. */
const MAX_LITERAL = 255

/** The start of a formula; full-width signs count in some languages of Excel. */
const FORMULA = /^[\s\0]*[=+\-@＝＋－＠]|^[\t\r\n]/
const BOOLEAN_OR_ERROR = /^(verdadeiro|falso|true|false|#.*)$/i
/** Letters of numbers, dates and times: 1E5, R$ 5, 2 de mar de 26, 10:30 PM. */
const NUMBER_WORDS =
  /r\$|us\$|\d[ed][+-]?(?=\d)|\b(am|pm|a|p|de)\b|jan\w*|f[ea][bv]\w*|mar[\wç]*|a[bp]r\w*|ma[iy]\w*|jun\w*|jul\w*|ag?[ou][gs]?\w*|se[tp]\w*|o[uc]t\w*|nov\w*|de[zc]\w*/gi

/**
 * Escapes text that Excel would read as a number, a date or a formula (CSV injection,
 * https://owasp.org/www-community/attacks/CSV_Injection): it becomes a formula of that text alone,
 * `="00123"`. Text that does not fit there gets a leading apostrophe, which Excel displays.
 */
export function escapeFormula(text: string): string {
  const clean = cellText(text)
  if (!isMisreadByExcel(clean)) return clean
  const literal = clean.replaceAll('"', '""')
  const fits = literal.length <= MAX_LITERAL && !/[\t\r\n]/.test(literal)
  return fits ? `="${literal}"` : truncate(`'${clean}`)
}

/** True in doubt, because Excel displays an escaped cell identically. */
function isMisreadByExcel(text: string): boolean {
  if (FORMULA.test(text) || BOOLEAN_OR_ERROR.test(text.trim())) return true
  return /\d/.test(text) && !/\p{L}/u.test(text.replace(NUMBER_WORDS, '0'))
}
