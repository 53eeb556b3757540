import { execFileSync } from 'node:child_process'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson, replaceLoneSurrogates } from '../../../../src/lib/text/json.ts'

/** Triggers the V8 bug at each position that these tests use. */
const POISON = ['a', 'a', 'a'].map((_, at) => {
  const before = Array.from({ length: at }, (_, n) => `"zz${n}":1,`).join('')
  return `{${before}"\\\\":1,"\\\\n":1,"\\\\\\\\":1}`
})
for (const text of POISON) JSON.parse(text)

/** A JSON value as written: ordered entries, including duplicate names. */
type Written =
  | { text: string; value: null | boolean | number }
  | string
  | Written[]
  | { entries: [name: string, value: Written][] }

const characters = fc.constantFrom(
  ...['"', '\\', '\n', '\t', '\u0000', '/', 'n', 'u', 'a', ':', ',', '{', '}', ']', ' '],
  ...['é', '\u2028', '\ud83d', '\ude00', '🛒'],
)
const names = fc.oneof(
  fc.string({ unit: characters, maxLength: 4 }),
  fc.constantFrom('__proto__', 'constructor', '0', '10', '2', '', 'zz0', 'zz1', '\\', '"', '\n'),
)
const literals = fc
  .constantFrom('null', 'true', 'false', '0', '-0', '1.50e2', '-1e400', '9007199254740993')
  .map((text) => ({ text, value: JSON.parse(text) }))

const { value: written } = fc.letrec<{ value: Written }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    literals,
    fc.string({ unit: characters, maxLength: 6 }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(names, tie('value')), { maxLength: 6 }).map((entries) => ({ entries })),
  ),
}))

/** Variants of one value: whitespace between tokens, and optional escapes. */
interface Form {
  space: string
  escapesAll: boolean
}
const forms = fc.record({
  space: fc.constantFrom('', ' ', '\n\t', '\r\n '),
  escapesAll: fc.boolean(),
})

function textOf(value: Written, form: Form): string {
  const { space } = form
  const list = (items: string[]) => items.map((item) => space + item + space).join(',') || space
  if (typeof value === 'string') return stringOf(value, form)
  if (Array.isArray(value)) return `[${list(value.map((item) => textOf(item, form)))}]`
  if ('text' in value) return value.text
  const entries = value.entries.map(([name, inner]) => {
    return `${stringOf(name, form)}${space}:${space}${textOf(inner, form)}`
  })
  return `{${list(entries)}}`
}

function stringOf(text: string, { escapesAll }: Form): string {
  if (!escapesAll) return JSON.stringify(text)
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`
}

/** Builds the expected value without a parser. */
function builtOf(value: Written): unknown {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(builtOf)
  if ('text' in value) return value.value
  return Object.fromEntries(value.entries.map(([name, inner]) => [name, builtOf(inner)]))
}

/** Compares what `toStrictEqual` ignores: the order of names, and the name `constructor`. */
function expectSame(actual: unknown, expected: unknown): void {
  expect(JSON.stringify(actual)).toBe(JSON.stringify(expected))
  expect(isDeepStrictEqual(actual, expected)).toBe(true)
}

const withoutBackslash = (value: Written): Written => {
  if (typeof value === 'string' || 'text' in value) return value
  if (Array.isArray(value)) return value.map(withoutBackslash)
  const plain = (name: string) => name.replaceAll(/[\\"\p{Cc}]|[\ud800-\udfff]/gu, '')
  return { entries: value.entries.map(([name, inner]) => [plain(name), withoutBackslash(inner)]) }
}

describe('parseJson', () => {
  it('returns the written value for any names and escapes', () => {
    fc.assert(
      fc.property(written, forms, (value, form) => {
        expectSame(parseJson(textOf(value, form)), builtOf(value))
      }),
      { numRuns: 2_000 },
    )
  })

  it('agrees with JSON.parse when no name has a backslash', () => {
    fc.assert(
      fc.property(written.map(withoutBackslash), (value) => {
        const text = textOf(value, { space: ' ', escapesAll: false })
        expectSame(parseJson(text), JSON.parse(text))
      }),
      { numRuns: 1_000 },
    )
  })

  it('returns the names of the issue in any sequence of texts', () => {
    const texts = ['"', '\\', '\n', '"', '\\'].map((name) => ({ zz1: 'x', [name]: 'y' }))
    for (const value of texts) expectSame(parseJson(JSON.stringify(value)), value)
  })

  it.each([
    ['the last of two values of one name, at the place of the first', '{"\\"":1,"b":2,"\\"":3}'],
    ['names that are numbers first', '{"\\"":1,"10":2,"2":3}'],
  ])('returns %s', (_what, text) => {
    const fresh = execFileSync(process.execPath, [
      '-p',
      `JSON.stringify(JSON.parse(${JSON.stringify(text)}))`,
    ])
    expect(JSON.stringify(parseJson(text))).toBe(fresh.toString().trim())
  })

  it('defines __proto__ as an own property next to an escaped name', () => {
    const parsed = parseJson('{"\\"":1,"__proto__":{"a":1}}') as object
    expect(Object.keys(parsed)).toEqual(['"', '__proto__'])
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype)
  })

  it('parses nesting deeper than the stack', () => {
    const depth = 200_000
    let parsed = parseJson(`${'['.repeat(depth)}{"\\"":1}${']'.repeat(depth)}`)
    for (let left = depth; left > 0; left -= 1) parsed = (parsed as unknown[])[0]
    expect(parsed).toEqual({ '"': 1 })
  })

  it('runs in linear time', () => {
    // Adjacent escapes: a scan from the start for each of them would take quadratic time.
    const name = '\\'.repeat(500_000)
    const parsed = parseJson(JSON.stringify({ a: name, [name]: '"'.repeat(1_000_000) })) as object
    expect(Object.keys(parsed).map(({ length }) => length)).toEqual([1, 500_000])
  })

  it.each(['', '{"\\"":1', '{"\\":1}', '{"\\"":1,}', '{"\\"":1} x', '"\\', '["\\x"]', '{"\\"" 1}'])(
    'rejects invalid JSON as JSON.parse does: %s',
    (text) => {
      expect(() => parseJson(text)).toThrow(SyntaxError)
    },
  )
})

describe('replaceLoneSurrogates', () => {
  const wellFormed = (value: Written): Written => {
    if (typeof value === 'string') return value.toWellFormed()
    if (Array.isArray(value)) return value.map(wellFormed)
    if ('text' in value) return value
    return {
      entries: value.entries.map(([name, inner]) => [name.toWellFormed(), wellFormed(inner)]),
    }
  }

  it('leaves every text and name of any JSON well-formed, and all else unchanged', () => {
    fc.assert(
      fc.property(written, forms, (value, form) => {
        const replaced = replaceLoneSurrogates(textOf(value, form))
        expectSame(parseJson(replaced), builtOf(wellFormed(value)))
      }),
      { numRuns: 2_000 },
    )
  })

  it.each([
    [String.raw`["\ud83d"]`, String.raw`["\ufffd"]`],
    [String.raw`["\uDE00\uD83D"]`, String.raw`["\ufffd\ufffd"]`],
    [String.raw`["\uD83D\uDE00"]`, String.raw`["\uD83D\uDE00"]`],
    [String.raw`["\\ud83d"]`, String.raw`["\\ud83d"]`],
    [String.raw`["\\\ud83d"]`, String.raw`["\\\ufffd"]`],
    [String.raw`["\ud83d\ud83d\ude00"]`, String.raw`["\ufffd\ud83d\ude00"]`],
    [String.raw`["\ud83d\\ude00"]`, String.raw`["\ufffd\\ude00"]`],
  ])('makes %s %s', (json, replaced) => {
    expect(replaceLoneSurrogates(json)).toBe(replaced)
  })
})

it('V8 still has the bug nodejs/node#63785; when this fails, replace parseJson by JSON.parse', () => {
  const program = String.raw`
    JSON.parse('{"zz1":"x","\\\\":"y"}')
    console.log(Object.keys(JSON.parse('{"zz1":"x","\\"":"1"}'))[1])`
  const name = execFileSync(process.execPath, ['-e', program]).toString().trim()
  const mended =
    'plain JSON.parse reads names with escapes right: once every Node that package.json allows does, make parseJson in src/lib/text/json.ts JSON.parse, and drop this test'
  expect(name, mended).toBe('\\')
})
