import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  compareInstants,
  formatInstant,
  type InvalidInstantReason,
  parseInstant,
  parseInstantBound,
  toExactInstant,
} from '../../../src/lib/instant.ts'
import { anyInstantMs } from '../../support/orders/arbitraries.ts'

// Text, the same instant in UTC with milliseconds, and the next millisecond for finer fractions.
const accepted: [text: string, floor: string, ceil?: string][] = [
  ['2026-03-01T12:00:00Z', '2026-03-01T12:00:00.000Z'],
  ['2026-03-01t12:00:00z', '2026-03-01T12:00:00.000Z'],
  ['2026-03-01T12:00:00z', '2026-03-01T12:00:00.000Z'],
  ['2026-03-01T00:00:00Z', '2026-03-01T00:00:00.000Z'],
  ['2026-03-01T23:59:59Z', '2026-03-01T23:59:59.000Z'],
  ['2026-03-01T12:00:00+00:00', '2026-03-01T12:00:00.000Z'],
  ['2026-03-01T12:00:00-00:00', '2026-03-01T12:00:00.000Z'],
  ['2026-03-01T12:00:00-03:00', '2026-03-01T15:00:00.000Z'],
  ['2026-03-01T12:00:00+05:30', '2026-03-01T06:30:00.000Z'],
  ['2026-03-01T12:00:00+23:59', '2026-02-28T12:01:00.000Z'],
  ['2026-03-01T12:00:00-23:59', '2026-03-02T11:59:00.000Z'],
  ['2025-12-31T22:00:00.5-03:00', '2026-01-01T01:00:00.500Z'],
  ['2026-01-31T00:00:00Z', '2026-01-31T00:00:00.000Z'],
  ['2026-02-28T00:00:00Z', '2026-02-28T00:00:00.000Z'],
  ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'],
  ['2026-04-30T00:00:00Z', '2026-04-30T00:00:00.000Z'],
  ['2026-12-31T00:00:00Z', '2026-12-31T00:00:00.000Z'],
  ['1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999Z'],
  ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00.000Z'],
  ['0000-02-29T00:00:00Z', '0000-02-29T00:00:00.000Z'],
  ['0000-01-01T23:59:00+23:59', '0000-01-01T00:00:00.000Z'],
  ['0099-12-31T23:59:59Z', '0099-12-31T23:59:59.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ['9999-12-31T00:00:59.999-23:59', '9999-12-31T23:59:59.999Z'],
  ['2026-03-01T12:00:00.1Z', '2026-03-01T12:00:00.100Z'],
  ['2026-03-01T12:00:00.12Z', '2026-03-01T12:00:00.120Z'],
  ['2026-03-01T12:00:00.123Z', '2026-03-01T12:00:00.123Z'],
  ['2026-03-01T12:00:00.1230Z', '2026-03-01T12:00:00.123Z'],
  ['2026-03-01T12:00:00.1234Z', '2026-03-01T12:00:00.123Z', '2026-03-01T12:00:00.124Z'],
  ['2026-03-01T12:00:00.12301Z', '2026-03-01T12:00:00.123Z', '2026-03-01T12:00:00.124Z'],
  ['2026-03-01T12:00:00.123000Z', '2026-03-01T12:00:00.123Z'],
  ['2026-03-01T12:00:00.1230001Z', '2026-03-01T12:00:00.123Z', '2026-03-01T12:00:00.124Z'],
  ['2026-03-01T12:00:00.00000001Z', '2026-03-01T12:00:00.000Z', '2026-03-01T12:00:00.001Z'],
  ['2026-03-01T12:00:00.999999999Z', '2026-03-01T12:00:00.999Z', '2026-03-01T12:00:01.000Z'],
  ['2026-03-01T12:00:00.0000000000Z', '2026-03-01T12:00:00.000Z'],
  ['2026-03-01T12:00:00.00000000001Z', '2026-03-01T12:00:00.000Z', '2026-03-01T12:00:00.001Z'],
  ['2026-12-31T23:59:59.999999999999Z', '2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00.000Z'],
]

const rejected: Record<InvalidInstantReason, string[]> = {
  'date-alone': ['2026-03-01', '0000-00-00', '2026-02-30'],
  'no-zone': [
    '2026-03-01T12:00:00',
    '2026-03-01t12:00:00',
    '2026-03-01T12:00:00.123456789',
    '2026-02-30T25:00:00',
  ],
  'plus-read-as-space': ['2026-03-01T12:00:00 03:00', '2026-03-01t12:00:00.123 00:00'],
  impossible: [
    '2026-02-29T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2100-02-29T00:00:00Z',
    '2024-02-30T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-06-31T00:00:00Z',
    '2026-09-31T00:00:00Z',
    '2026-11-31T00:00:00Z',
    '2026-01-32T00:00:00Z',
    '2026-03-00T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-03-01T24:00:00Z',
    '2026-03-01T25:00:00Z',
    '2026-03-01T12:60:00Z',
    '2026-03-01T12:00:60Z',
    '2016-12-31T23:59:60Z',
    '2026-03-01T12:00:00+24:00',
    '2026-03-01T12:00:00-24:00',
    '2026-03-01T12:00:00+03:60',
    '0000-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
  ],
  malformed: [
    '',
    ' ',
    'ontem',
    '1772366400000',
    '2026',
    '2026-03',
    '2026-3-1T12:00:00Z',
    '26-03-01T12:00:00Z',
    '12026-03-01T12:00:00Z',
    '+002026-03-01T12:00:00Z',
    '-0001-03-01T12:00:00Z',
    '2026-03-01 12:00:00Z',
    '2026-03-01_12:00:00Z',
    '20260301T120000Z',
    '2026-03-01T12:00Z',
    '2026-03-01T12Z',
    '2026-03-01TZ',
    '2026-03-01Z',
    '2026-03-01T12:00:00.Z',
    '2026-03-01T12:00:00,5Z',
    '2026-03-01T12:00:00+0300',
    '2026-03-01T12:00:00+03',
    '2026-03-01T12:00:00+3:00',
    '2026-03-01T12:00:00+03:00:00',
    '2026-03-01T12:00:00\u221203:00',
    '2026-03-01T12:00:00 0300',
    '2026-03-01T12:00:00ZZ',
    '2026-03-01T12:00:00 Z',
    '2026-03-01T12:00:00BRT',
    ' 2026-03-01T12:00:00Z',
    '2026-03-01T12:00:00Z ',
    '2026-03-01T12:00:00Z\n',
    '2026-03-01\n',
    '٢٠٢٦-٠٣-٠١T١٢:٠٠:٠٠Z',
    '2026-03-0１T12:00:00Z',
    '2026-W09-7T12:00:00Z',
    '2026-060T12:00:00Z',
  ],
}

describe('parseInstantBound', () => {
  it.each([
    ['0000-01-01T00:00:00+00:01', Date.parse('0000-01-01T00:00:00Z') - 60_000],
    ['9999-12-31T23:59:59-00:01', Date.parse('9999-12-31T23:59:59Z') + 60_000],
  ])('parses %s, which only its offset puts beyond the years of the API', (text, ms) => {
    expect(parseInstantBound(text)).toEqual({ floorMs: ms, ceilMs: ms })
    expect(parseInstant(text)).toBe('impossible')
  })
})

describe('parseInstant', () => {
  it.each(accepted)('parses %s', (text, floor, ceil = floor) => {
    expect(parseInstant(text)).toEqual({ floorMs: Date.parse(floor), ceilMs: Date.parse(ceil) })
  })

  it('rounds up the last instant of the last year', () => {
    const lastMs = Date.parse('9999-12-31T23:59:59.999Z')
    expect(parseInstant('9999-12-31T23:59:59.9991Z')).toEqual({
      floorMs: lastMs,
      ceilMs: lastMs + 1,
    })
  })

  describe.each(Object.entries(rejected))('a text rejected as %s', (fault, texts) => {
    it.each(texts)('parseInstant rejects %j', (text) => {
      expect(parseInstant(text)).toBe(fault)
    })
  })

  it('parses the output of formatInstant', () => {
    fc.assert(
      fc.property(anyInstantMs, (ms) => {
        expect(parseInstant(formatInstant(ms))).toEqual({ floorMs: ms, ceilMs: ms })
      }),
    )
  })

  it('parses the same instant in any zone', () => {
    const minutes = fc.integer({ min: -(23 * 60 + 59), max: 23 * 60 + 59 })
    fc.assert(
      fc.property(anyInstantMs, minutes, (ms, offset) => {
        const local = ms + offset * 60_000
        fc.pre(local >= Date.parse('0000-01-01T00:00:00Z') && local < 253_402_300_800_000)
        const zone = formatInstant(Math.abs(offset) * 60_000).slice(11, 16)
        const text = `${formatInstant(local).slice(0, -1)}${offset < 0 ? '-' : '+'}${zone}`
        expect(parseInstant(text)).toEqual({ floorMs: ms, ceilMs: ms })
      }),
    )
  })

  it.each(['/', ':', ' ', 'x', '٣'])('rejects %j in place of any digit', (other) => {
    for (const text of ['2026-03-11T12:10:10.123Z', '2026-03-11T12:10:10Z']) {
      for (const { index } of text.matchAll(/\d/g)) {
        const changed = `${text.slice(0, index)}${other}${text.slice(index + 1)}`
        expect(parseInstant(changed), changed).toBe('malformed')
      }
    }
  })

  it('accepts exactly the days of the calendar', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 9999 }),
        fc.integer({ min: 0, max: 13 }),
        fc.integer({ min: 0, max: 32 }),
        (year, month, day) => {
          const two = (part: number) => String(part).padStart(2, '0')
          const text = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T00:00:00.000Z`
          // Date parses a nonexistent day as invalid or as another day.
          const ms = Date.parse(text)
          const exists = !Number.isNaN(ms) && new Date(ms).toISOString() === text
          expect(typeof parseInstant(text)).toBe(exists ? 'object' : 'string')
        },
      ),
      { numRuns: 500 },
    )
  })
})

describe('formatInstant', () => {
  it.each([
    [0, '1970-01-01T00:00:00.000Z'],
    [-1, '1969-12-31T23:59:59.999Z'],
    [1_772_366_400_007, '2026-03-01T12:00:00.007Z'],
  ])('formats %d in UTC with milliseconds', (ms, text) => {
    expect(formatInstant(ms)).toBe(text)
  })
})

describe('compareInstants', () => {
  it.each([
    ['2026-03-01T12:00:00Z', '2026-03-01T12:00:00.000000Z', 0],
    ['2026-03-01T12:00:00.0005Z', '2026-03-01T12:00:00.00050Z', 0],
    ['2026-03-01T12:00:00.0005Z', '2026-03-01T12:00:00.00049Z', 1],
    ['2026-03-01T12:00:00.00049Z', '2026-03-01T09:00:00.0005-03:00', -1],
    ['2026-03-01T12:00:00.001Z', '2026-03-01T12:00:00.0009Z', 1],
  ])('compares %s with %s as %d', (one, other, sign) => {
    expect(Math.sign(compareInstants(toExactInstant(one), toExactInstant(other)))).toBe(sign)
  })

  it('compareInstants runs in linear time', { timeout: 5_000 }, () => {
    // A search for the end of the zeros from each of them would take quadratic time.
    const instant = (last: string) => `2026-03-01T12:00:00.000${'0'.repeat(100_000)}${last}Z`
    const [one, other] = [toExactInstant(instant('1')), toExactInstant(instant('2'))]
    expect(compareInstants(one, other)).toBe(-1)
    // Zeros up to the end are dropped.
    expect(toExactInstant(instant('')).finerDigits).toBe('')
  })
})
