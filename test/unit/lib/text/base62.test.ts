import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { base62FromBytes, toBase62 } from '../../../../src/lib/text/base62.ts'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const numberOf = (digits: string) =>
  [...digits].reduce((value, digit) => value * 62n + BigInt(DIGITS.indexOf(digit)), 0n)

describe('toBase62', () => {
  it.each([
    [0n, 6, '000000'],
    [0n, 0, ''],
    [9n, 1, '9'],
    [10n, 1, 'A'],
    [35n, 1, 'Z'],
    [36n, 1, 'a'],
    [61n, 2, '0z'],
    [62n, 2, '10'],
    [62n ** 6n - 1n, 6, 'zzzzzz'],
    [62n ** 6n, 6, '1000000'],
  ])('writes %d in at least %d digits', (value, length, digits) => {
    expect(toBase62(value, length)).toBe(digits)
  })

  it('writes digits that decode to the value', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n }), (value) => {
        expect(numberOf(toBase62(value, 6))).toBe(value)
      }),
    )
  })
})

describe('base62FromBytes', () => {
  const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 })

  it('returns the requested number of digits for any bytes', () => {
    fc.assert(
      fc.property(bytes, (some) => {
        expect(base62FromBytes(some, 32)).toMatch(/^[0-9A-Za-z]{32}$/)
      }),
    )
  })

  it('pads zero bytes', () => {
    expect(base62FromBytes(new Uint8Array(32), 32)).toBe('0'.repeat(32))
  })

  it('returns digits that depend on every byte', () => {
    fc.assert(
      fc.property(bytes, (some) => {
        const value = BigInt(`0x${Buffer.from(some).toString('hex')}`)
        expect(numberOf(base62FromBytes(some, 32))).toBe(value % 62n ** 32n)
      }),
    )
  })
})
