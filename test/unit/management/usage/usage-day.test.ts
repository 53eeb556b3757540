import { describe, expect, it } from 'vitest'
import { dayBefore, dayOf, endOfDay, isDay } from '../../../../src/management/usage/usage-day.ts'

describe('days of usage', () => {
  it('a day starts at midnight UTC', () => {
    const midnight = Date.parse('2026-03-01T00:00:00Z')
    expect([dayOf(midnight - 1), dayOf(midnight)]).toEqual(['2026-02-28', '2026-03-01'])
    expect([endOfDay(midnight - 1), endOfDay(midnight)]).toEqual([midnight, midnight + 86_400_000])
    expect(dayBefore(midnight, 400)).toBe('2025-01-25')
  })

  it.each(['2026-02-29', '2026-13-01', '2026-1-1', '01/11/2026', '', '2026-11-01T00:00:00Z'])(
    '%j is no day',
    (text) => {
      expect(isDay(text)).toBe(false)
    },
  )

  it('29 February of a leap year is a day', () => {
    expect(isDay('2028-02-29')).toBe(true)
  })
})
