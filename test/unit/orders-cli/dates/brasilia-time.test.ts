import { describe, expect, it } from 'vitest'
import { brasiliaDate, brasiliaTime } from '../../../../src/orders-cli/dates/brasilia-time.ts'

describe('the time in Brasília', () => {
  it.each([
    ['2026-03-01T12:00:00.000Z', '01/03/2026 09:00:00'],
    ['2026-03-01T02:30:00.999Z', '28/02/2026 23:30:00'],
    ['2026-03-01T03:00:00Z', '01/03/2026 00:00:00'],
    ['2026-01-01T00:00:00+09:00', '31/12/2025 12:00:00'],
    ['2018-12-01T12:00:00.000Z', '01/12/2018 10:00:00'],
    ['1900-03-01T03:06:28.000Z', '01/03/1900 00:00:00'],
    ['2000-02-29T15:04:05.678Z', '29/02/2000 12:04:05'],
  ])('the instant %s is %s in Brasília', (instant, shown) => {
    expect(brasiliaTime(instant)).toBe(shown)
  })

  it.each(['0001-01-01T00:00:00.000Z', '1899-12-31T12:00:00.000Z', '1900-03-01T03:06:27.999Z'])(
    'the instant %s is null, because spreadsheets count days from March 1900 at the earliest',
    (instant) => {
      expect(brasiliaTime(instant)).toBeNull()
      expect(brasiliaDate(instant)).toBeNull()
    },
  )

  it('an invalid instant is null in Brasília', () => {
    expect(brasiliaTime('ontem')).toBeNull()
  })
})
