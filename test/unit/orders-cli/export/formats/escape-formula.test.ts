import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { escapeFormula } from '../../../../../src/orders-cli/export/formats/escape-formula.ts'
import { shownByExcel } from '../../../../support/orders-cli/orders-csv.ts'

const months = [
  ...['janeiro', 'fevereiro', 'março', 'abril', 'maio', 'junho'],
  ...['julho', 'agosto', 'setembro', 'outubro', 'novembro', 'dezembro'],
]

describe('text that Excel would convert', () => {
  it.each([
    '00012345678',
    '+5511999990000',
    '80010-000',
    '0042',
    '4242',
    '1.234',
    '1,5',
    '(5)',
    '50%',
    'R$ 5,00',
    '12E345',
    '1d5',
    '1/2',
    '12-10',
    '2 mar',
    '5 de maio',
    'mar/26',
    'Jan-05',
    '4 JUN',
    '10:30',
    ...months.map((month) => `2 de ${month} de 2026`),
    ...months.map((month) => `${month.slice(0, 3)}/26`),
    '3 PM',
    'VERDADEIRO',
    'falso',
    '#N/D',
    '=1+1',
    '+55 (11) 9',
    '-5',
    '- Ana',
    '@SUM(A1)',
    '  =2+2',
    '\u00a0=2+2',
    '＝2+2',
    '=HYPERLINK("http://x";"y")',
    `=${'x'.repeat(254)}`,
  ])('the text "%s" becomes a formula of that text', (text) => {
    expect(escapeFormula(text)).toMatch(/^="/)
    expect(shownByExcel(escapeFormula(text))).toBe(text)
  })
})

describe('text that Excel keeps', () => {
  it.each([
    '',
    'Ana Souza',
    'Apto 42',
    's/n',
    'ord_1aB2',
    '2 × Curso (198,00)',
    'janeiro',
    '10h',
    'a=b',
    'linha 1\nlinha 2',
    'rita@exemplo.com.br',
  ])('the text "%s" stays unchanged', (text) => {
    expect(escapeFormula(text)).toBe(text)
  })
})

describe('text that fits in no formula', () => {
  it.each([
    ['more than 255 characters', `=${'x'.repeat(255)}`],
    ['more than 255 characters after doubling its quotes', `="${'x'.repeat(252)}"`],
    ['a line break', '=1\n+1'],
    ['a tab at its beginning', '\t=1'],
  ])('text with %s gets an apostrophe', (_what, text) => {
    expect(escapeFormula(text)).toBe(`'${text}`)
  })
})

it('no text can start a formula of its own', () => {
  const hostile = fc.string({ unit: fc.constantFrom(...'=+-@"\'\t\r\n\0 ;1aE/') })
  fc.assert(
    fc.property(fc.oneof(hostile, fc.string({ unit: 'binary' })), (text) => {
      const cell = escapeFormula(text)
      const literal = /^="(?:[^"]|"")*"$/
      expect(literal.test(cell) || !/^[\s\0]*[=+\-@]|^[\t\r\n]/.test(cell)).toBe(true)
    }),
    { numRuns: 1_000 },
  )
})

it('line breaks become LF, and other control characters are removed', () => {
  expect(escapeFormula('a\r\nb\rc\u0000d\u0007')).toBe('a\nb\ncd')
})

it('text is truncated at the limit of an Excel cell', () => {
  const cell = escapeFormula('x'.repeat(40_000))
  expect(cell).toHaveLength(32_767)
  expect(cell).toMatch(/x…$/)
})
