import { describe, expect, it } from 'vitest'
import { codec, isRejected, listing, states } from '../../support/orders/cursors.ts'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const FOREIGN = ['+', '/', '=', ' ', '\n', '.', '%', 'é', '\u0000', '😀']

const named = Object.entries(states).map(
  ([name, state]) => [name, codec.seal(listing(), state)] as const,
)
const cursors = named.map(([, cursor]) => cursor)
const accepted = (variants: string[]) => variants.filter((text) => !isRejected(codec, text))
const put = (text: string, at: number, letter: string) =>
  text.slice(0, at) + letter + text.slice(at + 1)
const positions = (text: string) => [...text].keys()

/** Returns the first cursor that satisfies the predicate. */
function cursorWhere(is: (cursor: string) => boolean): string {
  for (let id = 0; id < 1000; id++) {
    const state = { ...states.fresh, after: { key: id, id: 'x'.repeat(id % 5) } }
    const cursor = codec.seal(listing(), state)
    if (is(cursor)) return cursor
  }
  throw new Error('no such cursor')
}

describe.each(named)('a cursor with a %s state', (_name, cursor) => {
  it('a cursor is accepted unaltered', () => {
    expect(isRejected(codec, cursor)).toBe(false)
  })

  it('a cursor is rejected with any one character altered', () => {
    const variants = [...positions(cursor)].flatMap((at) =>
      [...ALPHABET, ...FOREIGN]
        .filter((letter) => letter !== cursor[at])
        .map((letter) => put(cursor, at, letter)),
    )
    expect(accepted(variants)).toEqual([])
  })

  it('a cursor is rejected with any one byte altered', () => {
    const bytes = Buffer.from(cursor, 'base64url')
    const variants = [...bytes].flatMap((byte, at) =>
      [0x01, 0x02, 0x10, 0x80, 0xff].map((mask) => {
        const altered = Buffer.from(bytes)
        altered.writeUInt8(byte ^ mask, at)
        return altered.toString('base64url')
      }),
    )
    expect(accepted(variants)).toEqual([])
  })

  it('a cursor is rejected with a character left out', () => {
    expect(accepted([...positions(cursor)].map((at) => put(cursor, at, '')))).toEqual([])
  })

  it('a cursor is rejected truncated at its end or its start', () => {
    const cuts = [...positions(cursor)].flatMap((at) => [cursor.slice(0, at), cursor.slice(at + 1)])
    expect(accepted(cuts)).toEqual([])
  })

  it('a cursor is rejected with anything added', () => {
    const added = [...ALPHABET, ...FOREIGN, '==', '\r\n', cursor]
    expect(accepted(added.flatMap((more) => [cursor + more, more + cursor]))).toEqual([])
  })

  it('a cursor is rejected with two neighbouring characters swapped', () => {
    const swapped = [...positions(cursor)]
      .map((at) => cursor.slice(0, at) + cursor.charAt(at + 1) + cursor[at] + cursor.slice(at + 2))
      .filter((text) => text !== cursor)
    expect(accepted(swapped)).toEqual([])
  })

  it('a cursor is rejected in capitals or small letters', () => {
    expect(accepted([cursor.toUpperCase(), cursor.toLowerCase()])).toEqual([])
  })
})

describe('a cursor in another encoding', () => {
  it.each([1, 2])(
    'a cursor is rejected when only its spare bits differ, at %d bytes over',
    (over) => {
      const cursor = cursorWhere((text) => Buffer.from(text, 'base64url').length % 3 === over)
      const last = cursor.length - 1
      const bytes = Buffer.from(cursor, 'base64url')
      const aliases = [...ALPHABET]
        .map((letter) => put(cursor, last, letter))
        .filter((text) => text !== cursor && Buffer.from(text, 'base64url').equals(bytes))
      expect(aliases).toHaveLength(over === 1 ? 15 : 3)
      expect(accepted(aliases)).toEqual([])
    },
  )

  it.each([1, 2])('a cursor is rejected with padding, at %d bytes over', (over) => {
    const cursor = cursorWhere((text) => Buffer.from(text, 'base64url').length % 3 === over)
    expect(isRejected(codec, cursor.padEnd(Math.ceil(cursor.length / 4) * 4, '='))).toBe(true)
  })

  it('a cursor is rejected in the standard alphabet of base64', () => {
    const cursor = cursorWhere((text) => text.includes('-') && text.includes('_'))
    const standard = cursor.replaceAll('-', '+').replaceAll('_', '/')
    expect(isRejected(codec, standard)).toBe(true)
  })

  it('a cursor is rejected in hexadecimal', () => {
    const hex = cursors.map((cursor) => Buffer.from(cursor, 'base64url').toString('hex'))
    expect(accepted(hex)).toEqual([])
  })
})

describe('a text that never was a cursor', () => {
  it.each([
    '',
    'A',
    'AA',
    'AQ',
    'AQAA',
    'AQD_',
    'AQJrMQ',
    'ord_1',
    'null',
    'undefined',
    'eyJhZnRlciI6bnVsbH0',
    'A'.repeat(512),
    '_'.repeat(512),
    '\u0000',
    '😀',
  ])('a text that never was a cursor is rejected: %j', (text) => {
    expect(isRejected(codec, text)).toBe(true)
  })

  it('a text that never was a cursor is rejected when it has only a version, a known kid and 16 bytes', () => {
    const bytes = Buffer.concat([Buffer.from([1, 2]), Buffer.from('k1'), Buffer.alloc(16)])
    expect(isRejected(codec, bytes.toString('base64url'))).toBe(true)
  })
})
