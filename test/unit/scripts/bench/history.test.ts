import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { renderChart } from '../../../../scripts/bench/chart.ts'
import {
  appendEntry,
  type HistoryEntry,
  readHistory,
  renderTrends,
  rounded,
  trendsOf,
} from '../../../../scripts/bench/history.ts'
import type { Ratios } from '../../../../scripts/bench/report.ts'

const environment = { date: '2026-01-02T03:04:05.678Z', cpu: 'Fast', cpus: 2, openSearch: '3.8.0' }

/** A run that measured one ratio and one cost. */
function run(ratio: number, cost = 1, of: Partial<HistoryEntry> = {}): HistoryEntry {
  const parts = { api: { ratios: { 'api÷raw': ratio }, costs: { 'p50 api÷raw': cost } } }
  const options = { orders: 5_000 }
  return { commit: 'abc1234', dirty: false, environment, options, parts, ...of }
}

const folder = mkdtempSync(join(tmpdir(), 'bench-history-'))
const file = join(folder, 'history.ndjson')
beforeEach(() => rmSync(file, { force: true }))
afterAll(() => rmSync(folder, { recursive: true }))

describe('history', () => {
  it('Entries are read in the order in which they were appended', () => {
    appendEntry(run(1), file)
    appendEntry(run(2), file)
    expect(readHistory(file)).toEqual([run(1), run(2)])
  })

  it('Every run of the recorded history has ratios, which are finite', () => {
    for (const { parts } of readHistory()) {
      const recorded = Object.values(parts).flatMap(({ ratios, costs }) => [ratios, costs])
      const ratios = recorded.flatMap(Object.values)
      expect(ratios.length).toBeGreaterThan(0)
      expect(ratios.every(Number.isFinite)).toBe(true)
    }
  })

  it('Ratios are rounded, and those without a measurement are omitted', () => {
    const ratios = { measured: 0.123456, 'not measured': Number.NaN }
    const costs = { cost: 2, infinite: Number.POSITIVE_INFINITY }
    const kept = { ratios: { measured: 0.1235 }, costs: { cost: 2 } }
    expect(rounded({ ratios, costs })).toEqual(kept)
  })
})

describe('trends', () => {
  const worse = (now: HistoryEntry, past: readonly HistoryEntry[]) =>
    trendsOf(now, past).flatMap(({ name, isWorse }) => (isWorse ? [name] : []))

  it.each([
    ['another processor', { environment: { ...environment, cpu: 'Slow' } }],
    ['more processors', { environment: { ...environment, cpus: 8 } }],
    ['more orders', { options: { orders: 200_000 } }],
  ])('A run is not compared with one that has %s', (_, of) => {
    const others = Array.from({ length: 3 }, () => run(1, 1, of))
    expect(worse(run(0.1), others)).toEqual([])
    expect(trendsOf(run(0.1), others)).toMatchObject([{ runs: 0, last: Number.NaN }, {}])
  })

  it('A ratio that is more than 5% below all earlier runs is a regression', () => {
    const past = [run(0.8), run(0.7), run(0.9)]
    expect(worse(run(0.66), past)).toEqual(['api: api÷raw'])
    expect(worse(run(0.67), past)).toEqual([])
  })

  it('A cost that is more than 5% above all earlier runs is a regression', () => {
    const past = [run(1, 1.2), run(1, 1.4), run(1, 1.3)]
    expect(worse(run(1, 1.48), past)).toEqual(['api: p50 api÷raw'])
    expect(worse(run(1, 1.46), past)).toEqual([])
  })

  it('Fewer than three earlier runs show no regression', () => {
    expect(worse(run(0.1), [run(0.8), run(0.8)])).toEqual([])
    expect(worse(run(0.1), [run(0.8), run(0.8), run(0.8)])).toEqual(['api: api÷raw'])
  })

  it('A run is compared with the latest ten runs only', () => {
    const ten = Array.from({ length: 10 }, () => run(0.8))
    expect(worse(run(0.5), [run(0.1), ...ten])).toEqual(['api: api÷raw'])
    expect(worse(run(0.5), [...ten.slice(1), run(0.1)])).toEqual([])
  })

  it('The report shows the latest, best and worst run, and lists regressions', () => {
    const text = renderTrends(run(0.35), [run(0.9), run(0.7), run(0.8)])
    expect(text).toMatch(/^api: api÷raw +! +0\.35 +0\.80 +0\.90 +0\.70 +3$/m)
    expect(text).toContain('! api: api÷raw: 0.35, ×0.50 of the worst of 3 runs')
    expect(renderTrends(run(0.9), [run(0.9)])).toContain('no ratio is worse')
  })
})

describe('chart', () => {
  const older = {
    'api÷raw large created 20': 0.8,
    'api÷straightforward large created 20': 2,
    'embedded÷raw large created 20': 1.6,
    'api÷raw large created 100': 0.75,
    'api÷straightforward large created 100': 3,
    'embedded÷raw large created 100': 2,
  }
  const proxied = { 'api÷bare proxy large created 20': 1, 'api÷bare proxy large created 100': 0.5 }
  const chartOf = (ratios: Ratios) => {
    const of = { ...environment, cpu: 'A & B <fast>' }
    return renderChart(run(1, 1, { environment: of, parts: { api: { ratios, costs: {} } } }))
  }
  const svg = chartOf({ ...older, ...proxied })
  const barsIn = (chart: string) => {
    const bar = /<rect class="(\w+)" [^>]*width="([\d.]+)"[^>]*\/><text [^>]*>([\d.]+)</g
    return [...chart.matchAll(bar)]
  }
  const listed = (chart: string) =>
    barsIn(chart)
      .map(([, kind, , value]) => `${kind} ${value}`)
      .join()

  it('The chart has a bar with its value for each contender, all drawn to one scale', () => {
    const bars = barsIn(svg)
    expect(listed(svg)).toBe(
      [
        'raw 1.00,proxy 0.80,own 0.80,embedded 1.60,baseline 0.40',
        'raw 1.00,proxy 1.50,own 0.75,embedded 2.00,baseline 0.25',
      ].join(),
    )
    const unit = Number(bars[0]?.[2])
    for (const [, , width, value] of bars) expect(Number(width)).toBeCloseTo(unit * Number(value))
  })

  it('The chart of an older run has no bar for the bare proxy', () => {
    expect(listed(chartOf(older))).toBe(
      'raw 1.00,own 0.80,embedded 1.60,baseline 0.40,raw 1.00,own 0.75,embedded 2.00,baseline 0.25',
    )
    expect(chartOf(older)).not.toContain('bare proxy')
  })

  it('The chart is accessible, escapes its texts, and loads nothing', () => {
    expect(svg).toMatch(
      /role="img"[\s\S]*<desc id="d">20 orders a page: raw search of OpenSearch 1\.00/,
    )
    expect(svg).toContain('abc1234, 2026-01-02; OpenSearch 3.8.0, 5000 orders')
    expect(svg).toContain('A &amp; B &lt;fast>')
    expect(svg.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|url\(|@import/)
  })
})
