import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { brasiliaTime } from '../../../../../src/orders-cli/export/formats/brasilia-time.ts'
import { decimalComma, formatReais } from '../../../../../src/orders-cli/export/formats/csv-br.ts'

describe('cents', () => {
  it.each([
    [0, '0,00'],
    [1, '0,01'],
    [-1, '-0,01'],
    [-0, '0,00'],
    [99, '0,99'],
    [100, '1,00'],
    [-12345, '-123,45'],
    [2 ** 53 - 1, '90071992547409,91'],
    [-(2 ** 53 - 1), '-90071992547409,91'],
  ])('%i cents are rendered as %s', (cents, text) => {
    expect(formatReais(cents)).toBe(text)
  })

  it('cents keep all digits', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (cents) => {
        expect(Number(formatReais(cents).replace(',', ''))).toBe(cents)
      }),
    )
  })
})

describe('a rate', () => {
  it.each([
    [5.4321, '5,4321'],
    [5, '5'],
    [0.1, '0,1'],
    [0.0000001, '0,0000001'],
    [1234.5, '1234,5'],
    [1e21, '1000000000000000000000'],
  ])('the rate %d is rendered as %s', (rate, text) => {
    expect(decimalComma(rate)).toBe(text)
  })

  it('parses back to the same number', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-12, max: 1e12, noNaN: true }), (rate) => {
        expect(Number(decimalComma(rate).replace(',', '.'))).toBe(rate)
      }),
    )
  })
})

describe('the time in Brasília', () => {
  it.each([
    ['2026-03-01T12:00:00.000Z', '01/03/2026 09:00:00'],
    ['2026-03-01T02:30:00.999Z', '28/02/2026 23:30:00'],
    ['2026-03-01T03:00:00Z', '01/03/2026 00:00:00'],
    ['2026-01-01T00:00:00+09:00', '31/12/2025 12:00:00'],
    ['2018-12-01T12:00:00.000Z', '01/12/2018 10:00:00'],
    ['2000-02-29T15:04:05.678Z', '29/02/2000 12:04:05'],
  ])('the instant %s is %s in Brasília', (instant, shown) => {
    expect(brasiliaTime(instant)).toBe(shown)
  })

  it('an invalid instant is null in Brasília', () => {
    expect(brasiliaTime('ontem')).toBeNull()
  })
})
