import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatIgnoredParams } from '../../../src/http/unknown-params.ts'
import { listParamNames } from '../../../src/orders/list-params.ts'

const format = (...names: string[]) => formatIgnoredParams(names, listParamNames)

/** A list of RFC 9651: tokens or strings, with `did-you-mean` as the only parameter. */
const LIST = (() => {
  const token = "[A-Za-z*][!#$%&'*+.^_`|~:/0-9A-Za-z-]*"
  const item = `(?:${token}|"[ !#-\\[\\]-~]*")(?:;did-you-mean=${token})?`
  return new RegExp(`^${item}(?:, ${item})*$`)
})()

describe('Ignored-Params', () => {
  it.each<[string[], string]>([
    [['foo'], 'foo'],
    [['statuss'], 'statuss;did-you-mean=status'],
    [['statuss', 'foo'], 'statuss;did-you-mean=status, foo'],
    [['createdGte'], 'createdGte;did-you-mean=created_gte'],
    [['a b'], 'a%20b'],
    [['*'], '*'],
    [['status[]'], 'status%5B%5D;did-you-mean=status'],
    [['status(s)'], '"status(s)";did-you-mean=status'],
    [['1x'], '"1x"'],
    [['-x'], '"-x"'],
    [[''], '""'],
    [['é'], '"%C3%A9"'],
    [['a, b;did-you-mean=c'], 'a%2C%20b%3Bdid-you-mean%3Dc'],
    [['a"\\'], 'a%22%5C'],
    [['a\r\nX-Injected: 1'], 'a%0D%0AX-Injected%3A%201'],
  ])('lists %j as %s', (names, header) => {
    expect(format(...names)).toBe(header)
  })

  it('contains no suggestion when the route defines no parameter', () => {
    expect(formatIgnoredParams(['statuss'], [])).toBe('statuss')
  })

  it('contains at most ten names, each truncated to 64 characters', () => {
    const items = format(...Array.from({ length: 11 }, (_, n) => `n${n}${'x'.repeat(100)}`)).split(
      ', ',
    )
    expect(items.map((item) => item.length)).toEqual(Array(10).fill(64))
  })

  it('Ignored-Params is a valid list of RFC 9651 for any names', () => {
    const names = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...listParamNames))
    fc.assert(
      fc.property(fc.array(names, { minLength: 1 }), (all) => {
        expect(format(...all)).toMatch(LIST)
      }),
    )
  })
})
