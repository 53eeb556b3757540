import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { progressLine, progressText } from '../../../../src/cli/indexer/progress.ts'

const reached = {
  lines: 12_000,
  refused: 3,
  linesPerSecond: 2_345.6,
  share: 0.425,
  secondsLeft: 42.1,
}
const TEXT = '42% · 12000 lines · 2346 lines/s · 3 refused · about 43 s left'

describe('progressText', () => {
  it('progressText contains position, rate, rejected lines and time left', () => {
    expect(progressText(reached)).toBe(TEXT)
  })

  it('progressText omits unknown values', () => {
    const text = progressText({ ...reached, share: null, secondsLeft: null })
    expect(text).toBe('12000 lines · 2346 lines/s · 3 refused')
  })

  it.each([
    [0, '0 s'],
    [0.2, '1 s'],
    [59, '59 s'],
    [60, '1 min'],
    [61, '2 min'],
    [3_540, '59 min'],
    [3_541, '1 h 0 min'],
    [7_000, '1 h 57 min'],
  ])('progressText renders %d seconds as %s', (secondsLeft, text) => {
    expect(progressText({ ...reached, secondsLeft })).toContain(`about ${text} left`)
  })
})

describe('progressLine', () => {
  it('progressLine has a bar of 30 columns on a wide terminal', () => {
    expect(progressLine(reached, 120)).toBe(`${'█'.repeat(12)}${'░'.repeat(18)} ${TEXT}`)
  })

  it('progressLine shortens or omits the bar on a narrow terminal', () => {
    expect(progressLine(reached, TEXT.length + 11)).toBe(`████░░░░░░ ${TEXT}`)
    expect(progressLine(reached, TEXT.length + 5)).toBe(TEXT)
  })

  it('progressLine has no bar when the total is unknown', () => {
    expect(progressLine({ ...reached, share: null }, 120)).not.toMatch(/[█░]/)
  })

  it('the bar is empty at the start and full at the end', () => {
    expect(progressLine({ ...reached, share: 0 }, 120)).toMatch(/^░{30} 0%/)
    expect(progressLine({ ...reached, share: 1 }, 120)).toMatch(/^█{30} 100%/)
  })

  it('progressLine never exceeds the columns', () => {
    const shares = fc.option(fc.double({ min: 0, max: 1, noNaN: true }))
    fc.assert(
      fc.property(fc.nat(200), fc.nat(1e9), shares, (columns, lines, share) => {
        expect(progressLine({ ...reached, lines, share }, columns).length).toBeLessThanOrEqual(
          columns,
        )
      }),
    )
  })
})
