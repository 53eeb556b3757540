import { describe, expect, it } from 'vitest'
import { canBeDrawn, renderChart } from '../../../scripts/bench/chart/chart.ts'
import type { HistoryEntry } from '../../../scripts/bench/history/entry.ts'

const entry: HistoryEntry = {
  commit: 'abc1234',
  dirty: false,
  facts: {
    date: '2026-01-02T03:04:05.678Z',
    cpu: 'A & B <fast>',
    cpus: 2,
    openSearch: '3.8.0',
  },
  options: { orders: 200_000 },
  parts: {
    api: {
      ratios: {
        'api÷raw large created 20': 0.8,
        'api÷straightforward large created 20': 2,
        'embedded÷raw large created 20': 1.6,
        'api÷raw large created 100': 0.75,
        'api÷straightforward large created 100': 3,
        'embedded÷raw large created 100': 2,
      },
      costs: {},
    },
  },
}

/** Kind, label, width and value of each bar. */
function barsIn(svg: string) {
  const bar =
    /<text [^>]*text-anchor="end">([^<]+)<\/text><rect class="(\w+)" [^>]*width="([\d.]+)"[^>]*\/><text [^>]*>([\d.]+)<\/text>/g
  return [...svg.matchAll(bar)].map(([, label, kind, width, value]) => {
    return { label, kind, width: Number(width), value }
  })
}

describe('the chart', () => {
  const svg = renderChart(entry)
  const bars = barsIn(svg)

  it('has a bar for each side at 20 and at 100 orders, each with its value as text', () => {
    expect(bars.map(({ kind, value }) => `${kind} ${value}`)).toEqual([
      'raw 1.00',
      'own 0.80',
      'embedded 1.60',
      'peer 0.40',
      'raw 1.00',
      'own 0.75',
      'embedded 2.00',
      'peer 0.25',
    ])
  })

  it('draws all bars to one scale', () => {
    const unit = bars[0]?.width ?? Number.NaN
    for (const { width, value } of bars) expect(width).toBeCloseTo(unit * Number(value))
  })

  it('marks where the raw search ends', () => {
    const [, x, width] = /<rect class="raw" x="([\d.]+)"[^>]* width="([\d.]+)"/.exec(svg) ?? []
    const marks = [...svg.matchAll(/class="mark" x1="([\d.]+)"/g)].map(([, x1]) => Number(x1))
    expect(marks).toEqual([Number(x) + Number(width), Number(x) + Number(width)])
  })

  it('keeps everything inside of its frame', () => {
    const [, frame] = /viewBox="0 0 (\d+) /.exec(svg) ?? []
    const ends = [...svg.matchAll(/<text x="([\d.]+)"/g)].map(([, x]) => Number(x))
    expect(Math.max(...ends)).toBeLessThan(Number(frame) - 40)
  })

  it('leaves out what was not measured', () => {
    const ratios = { 'api÷raw large created 20': 0.8 }
    const only = { ...entry, parts: { api: { ratios, costs: {} } } }
    expect(barsIn(renderChart(only)).map(({ kind }) => kind)).toEqual(['raw', 'own', 'raw'])
  })

  it('says what it shows to those who do not see it', () => {
    expect(svg).toContain('role="img"')
    expect(svg).toMatch(
      /<desc id="d">20 orders a page: raw search of OpenSearch 1\.00, this service 0\.80/,
    )
  })

  it('tells what was measured, and writes it as markup should have it', () => {
    expect(svg).toContain('abc1234, 2026-01-02; OpenSearch 3.8.0, 200000 orders')
    expect(svg).toContain('A &amp; B &lt;fast&gt;')
  })

  it('has colours for a dark page, brings a ground of its own, and loads nothing', () => {
    expect(svg).toContain('prefers-color-scheme:dark')
    expect(svg).toContain('class="ground"')
    expect(svg.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|url\(|@import/)
  })

  it('is small', () => {
    expect(Buffer.byteLength(svg)).toBeLessThan(6 * 1024)
  })

  it('is the same for the same run', () => {
    expect(renderChart(structuredClone(entry))).toBe(svg)
  })

  it('needs a run of the service beside the raw search', () => {
    expect(canBeDrawn(entry)).toBe(true)
    expect(canBeDrawn({ ...entry, parts: { lag: { ratios: {}, costs: {} } } })).toBe(false)
  })
})
