import { describe, expect, it } from 'vitest'
import {
  formatFigure,
  formatPair,
  formatRatio,
  formatWithRatio,
  renderTable,
} from '../../../scripts/bench/reporting/table.ts'

describe('a table', () => {
  it('has its names to the left and its figures to the right', () => {
    const rows = [
      ['large', '1', '20000'],
      ['s', '0.5', '3'],
    ]
    expect(renderTable(['case', 'rate', 'p50'], rows)).toBe(
      ['case   rate    p50', '-----  ----  -----', 'large     1  20000', 's       0.5      3'].join(
        '\n',
      ),
    )
  })

  it('without rows has its names', () => {
    expect(renderTable(['case', 'p50'], [])).toBe('case  p50\n----  ---')
  })
})

describe('a figure', () => {
  it.each([
    [0, '0.000'],
    [0.1234, '0.123'],
    [1.234, '1.23'],
    [12.34, '12.3'],
    [123.4, '123'],
    [12_345.6, '12346'],
    [-1.234, '-1.23'],
    [Number.NaN, '-'],
    [Number.POSITIVE_INFINITY, '-'],
  ])('%d is written %s', (value, text) => {
    expect(formatFigure(value)).toBe(text)
  })

  it('stands beside the other side of its case', () => {
    expect(formatPair(1.5, 250)).toBe('1.50/250')
  })

  it('stands beside what it is times another', () => {
    expect(formatWithRatio(800, 1.256)).toBe('800 ×1.26')
  })

  it('has no ratio to nothing', () => {
    expect(formatRatio(1 / 0)).toBe('-')
  })
})
