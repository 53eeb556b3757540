/** What a literal in a formula may have. */
const LONGEST_LITERAL = 255
/** What a cell of Excel can hold; the rest would go into the next ones. */
const LONGEST_CELL = 32_767

/** What begins a formula; the wide ones do in some languages of Excel. Spaces before it change nothing elsewhere. */
const FORMULA = /^[\s\0]*[=+\-@＝＋－＠]|^[\t\r\n]/
const WORD_WITH_A_MEANING = /^(verdadeiro|falso|true|false|#.*)$/i
/** What a number, a date or an hour may have besides digits and signs: 1E5, R$ 5, 2 de mar de 26, 10:30 PM. */
const OF_NUMBERS =
  /r\$|us\$|\d[ed][+-]?(?=\d)|\b(am|pm|a|p|de)\b|jan\w*|f[ea][bv]\w*|mar[\wç]*|a[bp]r\w*|ma[iy]\w*|jun\w*|jul\w*|ag?[ou][gs]?\w*|se[tp]\w*|o[uc]t\w*|nov\w*|de[zc]\w*/gi

/**
 * Text that stays text when Excel opens the file: what it would take for a number, a date or a formula is put into a
 * formula that is nothing but that text, `="00123"`. What does not fit there gets an apostrophe, which is seen, and
 * keeps a formula of a stranger from being one.
 */
export function guarded(text: string): string {
  const clean = cut(withoutControls(text))
  if (!isTakenForMore(clean)) return clean
  const literal = clean.replaceAll('"', '""')
  const fits = literal.length <= LONGEST_LITERAL && !/[\t\r\n]/.test(literal)
  return fits ? `="${literal}"` : cut(`'${clean}`)
}

/** Rather too often than too seldom: a guard is not seen. */
function isTakenForMore(text: string): boolean {
  if (FORMULA.test(text) || WORD_WITH_A_MEANING.test(text.trim())) return true
  return /\d/.test(text) && !/\p{L}/u.test(text.replace(OF_NUMBERS, '0'))
}

/** Lines of a cell end with LF; other controls show as nothing, or end the cell. */
function withoutControls(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return text.replace(/\r\n?/g, '\n').replace(/[\0-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, '')
}

function cut(text: string): string {
  return text.length <= LONGEST_CELL ? text : `${text.slice(0, LONGEST_CELL - 1)}…`
}
