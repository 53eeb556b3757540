import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
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

  it('a number has a decimal comma where Node knows only English', () => {
    const { format } = new Intl.NumberFormat('en-US', {
      useGrouping: false,
      maximumSignificantDigits: 17,
    })
    vi.spyOn(Number.prototype, 'toLocaleString').mockImplementation(function (this: number) {
      return format(this)
    })
    expect(decimalComma(1234.5)).toBe('1234,5')
    vi.restoreAllMocks()
  })

  it('parses back to the same number', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-12, max: 1e12, noNaN: true }), (rate) => {
        expect(Number(decimalComma(rate).replace(',', '.'))).toBe(rate)
      }),
    )
  })
})
