import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decimalComma,
  reais,
} from '../../../../../src/orders-command/export/formats/decimal-comma.ts'

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
  ])('%i are %s', (cents, text) => {
    expect(reais(cents)).toBe(text)
  })

  it('are the same digits, whatever they are', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (cents) => {
        expect(Number(reais(cents).replace(',', ''))).toBe(cents)
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
  ])('%d is %s', (rate, text) => {
    expect(decimalComma(rate)).toBe(text)
  })

  it('is read back as the same number', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-12, max: 1e12, noNaN: true }), (rate) => {
        expect(Number(decimalComma(rate).replace(',', '.'))).toBe(rate)
      }),
    )
  })
})
