import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { canBeDrawn, renderChart } from '../../../scripts/bench/chart.ts'
import {
  appendEntry,
  entryOf,
  type HistoryEntry,
  readHistory,
} from '../../../scripts/bench/history.ts'
import { benchUsage } from '../../../scripts/bench/options.ts'
import { isComparable, renderTrends, trendsOf } from '../../../scripts/bench/trends.ts'

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
  it('A history without a file is empty', () => {
    expect(readHistory(file)).toEqual({ entries: [], broken: [] })
  })

  it('Entries are lines, and are read in the order in which they were appended', () => {
    appendEntry(run(1), file)
    appendEntry(run(2), file)
    expect(readHistory(file)).toEqual({ entries: [run(1), run(2)], broken: [] })
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(3)
  })

  it('Invalid lines are reported by number, and all others are read', () => {
    writeFileSync(file, '{"commit":') // The last write was incomplete.
    appendEntry(run(1), file)
    appendFileSync(file, '{"commit":"abc1234"}\n')
    appendEntry(run(2), file)
    const { entries, broken } = readHistory(file)
    expect(entries).toEqual([run(1), run(2)])
    expect(broken).toEqual([
      expect.stringMatching(/^history\.ndjson, line 1: .*JSON/),
      expect.stringMatching(/^history\.ndjson, line 3: \/dirty: /),
    ])
  })

  it('The recorded history of the bench has no invalid line', () => {
    expect(readHistory().broken).toEqual([])
  })

  it('An entry has the rounded ratios that were measured and the options, but no file names', () => {
    const report = { tables: [], figures: {}, failures: [] }
    const ratios = { measured: 0.123456, 'not measured': Number.NaN }
    const reports = { api: { ...report, ratios, costs: { cost: 2 } }, lag: report }
    const args = ['--orders', '5000', '--json', 'somewhere.json']
    const options = benchUsage([]).readOptions(args)
    const entry = entryOf({ commit: 'abc1234', dirty: true, environment, options, reports })
    expect(entry.parts).toEqual({
      api: { ratios: { measured: 0.1235 }, costs: { cost: 2 } },
      lag: { ratios: {}, costs: {} },
    })
    const recorded = { orders: 5_000, seconds: 8, rounds: 3, connections: 8 }
    const others = { loadOrders: 100_000, rate: 500, largest: 1_000_000 }
    expect(entry.options).toEqual({ ...recorded, ...others })
    appendEntry(entry, file)
    expect(readHistory(file).entries).toEqual([entry])
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
    expect(isComparable(run(1, 1, of), run(1))).toBe(false)
    const others = Array.from({ length: 3 }, () => run(1, 1, of))
    expect(worse(run(0.1), others)).toEqual([])
    expect(renderTrends(run(0.1), others)).toContain('The history has no run of api on ')
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

  it('A ratio without earlier measurements has no trend', () => {
    const [ratio] = trendsOf(run(0.1), [run(1, 1, { parts: {} })])
    expect(ratio).toEqual({ name: 'api: api÷raw', now: 0.1, past: undefined, isWorse: false })
  })

  it('The report shows the latest, best and worst run, and lists regressions', () => {
    const lines = renderTrends(run(0.35), [run(0.9), run(0.7), run(0.8)]).split('\n')
    expect(lines[0]).toContain('the latest: abc1234, 2026-01-02')
    const row = lines.find((line) => line.startsWith('! api: api÷raw '))
    expect(row?.split(/ {2,}/)).toEqual(['! api: api÷raw', '0.35', '0.80', '0.90', '0.70', '3'])
    expect(lines).toContain('! api: api÷raw: 0.35, ×0.50 of the worst of 3 runs')
    expect(renderTrends(run(0.9), [run(0.9)])).toContain('no ratio is worse')
  })
})

describe('chart', () => {
  const ratiosOf = (limit: number, ratios: readonly number[]) => {
    const names = ['api÷raw', 'api÷straightforward', 'embedded÷raw']
    return names.map((name, at) => [`${name} large created ${limit}`, ratios[at] ?? 0])
  }
  const ratios = Object.fromEntries([
    ...ratiosOf(20, [0.8, 2, 1.6]),
    ...ratiosOf(100, [0.75, 3, 2]),
  ])
  const charted = (recorded: Record<string, number>) =>
    run(1, 1, {
      environment: { ...environment, cpu: 'A & B <fast>' },
      parts: { api: { ratios: recorded, costs: {} } },
    })
  const svg = renderChart(charted(ratios))
  const barsIn = (text: string) =>
    [
      ...text.matchAll(/<rect class="(\w+)" [^>]*width="([\d.]+)"[^>]*\/><text [^>]*>([\d.]+)</g),
    ].map(([, kind, width, value]) => ({ kind, width: Number(width), value }))

  it('The chart has a bar with its value for each contender, all drawn to one scale', () => {
    const bars = barsIn(svg)
    expect(bars.map(({ kind, value }) => `${kind} ${value}`).join()).toBe(
      'raw 1.00,own 0.80,embedded 1.60,baseline 0.40,raw 1.00,own 0.75,embedded 2.00,baseline 0.25',
    )
    const unit = bars[0]?.width ?? Number.NaN
    for (const { width, value } of bars) expect(width).toBeCloseTo(unit * Number(value))
  })

  it('The chart omits contenders that were not measured', () => {
    const only = charted({ 'api÷raw large created 20': 0.8 })
    expect(barsIn(renderChart(only)).map(({ kind }) => kind)).toEqual(['raw', 'own', 'raw'])
    expect(canBeDrawn(only)).toBe(true)
    expect(canBeDrawn(charted({}))).toBe(false)
  })

  it('The chart is accessible, escapes its texts, and loads nothing', () => {
    expect(svg).toMatch(
      /role="img"[\s\S]*<desc id="d">20 orders a page: raw search of OpenSearch 1\.00/,
    )
    expect(svg).toContain('abc1234, 2026-01-02; OpenSearch 3.8.0, 5000 orders')
    expect(svg).toContain('A &amp; B &lt;fast&gt;')
    expect(svg.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|url\(|@import/)
  })

  it('No text of the chart begins near the right edge', () => {
    const [, width] = /viewBox="0 0 (\d+) /.exec(svg) ?? []
    const starts = [...svg.matchAll(/<text x="([\d.]+)"/g)].map(([, x]) => Number(x))
    expect(Math.max(...starts)).toBeLessThan(Number(width) - 40)
  })
})
