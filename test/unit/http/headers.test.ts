import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { prefersStrict } from '../../../src/http/headers.ts'

describe('prefersStrict accepts handling=strict', () => {
  it.each<[string, string | string[]]>([
    ['plainly', 'handling=strict'],
    ['in any case', 'Handling=STRICT'],
    ['in quotes', 'handling="strict"'],
    ['in quotes with escapes', String.raw`handling="st\rict"`],
    ['with spaces and tabs around', ' \thandling = strict \t'],
    ['with ignored parameters', 'handling=strict; why="a, b"; x'],
    ['with an empty parameter', 'handling=strict;'],
    ['after other preferences', 'respond-async, wait=10, handling=strict'],
    ['after empty elements', ',, ,handling=strict'],
    ['after a comma in quotes', 'note="a, handling=lenient, b", handling=strict'],
    ['after an escaped quote', String.raw`note="a\", handling=lenient", handling=strict`],
    ['after garbage', 'a b c, =, handling==x, (), handling=strict'],
    ['in another header than the first', ['respond-async', 'handling=strict']],
    ['before handling=lenient', 'handling=strict, handling=lenient'],
  ])('prefersStrict accepts handling=strict %s', (_, header) => {
    expect(prefersStrict(header)).toBe(true)
  })
})

describe('prefersStrict returns false', () => {
  it.each<[string, string | string[] | undefined]>([
    ['when it is absent', undefined],
    ['when it is empty', ''],
    ['when it requests lenient', 'handling=lenient'],
    ['when lenient is first', 'handling=lenient, handling=strict'],
    ['when lenient is in an earlier header', ['handling=lenient', 'handling=strict']],
    ['when another value is first', 'handling=firm, handling=strict'],
    ['when handling without a value is first', 'handling, handling=strict'],
    ['when an empty value is first', 'handling="", handling=strict'],
    ['with a value that only has the same prefix', 'handling=stricter'],
    ['with spaces in the quotes', 'handling=" strict"'],
    ['as a parameter of another preference', 'respond-async; handling=strict'],
    ['inside quotes', 'note="handling=strict"'],
    ['after unclosed quotes', 'note="a, handling=strict'],
    ['with other words after it', 'handling=strict please'],
    ['with the name alone', 'strict'],
  ])('prefersStrict returns false %s', (_, header) => {
    expect(prefersStrict(header)).toBe(false)
  })
})

it('prefersStrict ignores any text after handling=lenient', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(prefersStrict(`handling=lenient, ${text}`)).toBe(false)
    }),
  )
})

it('prefersStrict runs in linear time', { timeout: 5_000 }, () => {
  // After "=", spaces and no value: to divide them between two runs would take quadratic time.
  const spaces = ' '.repeat(100_000)
  expect(prefersStrict(`a=${spaces}@, handling=strict`)).toBe(true)
})
