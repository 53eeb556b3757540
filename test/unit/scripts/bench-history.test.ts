import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { entryOf, type HistoryEntry } from '../../../scripts/bench/history/entry.ts'
import { appendEntry, readHistory } from '../../../scripts/bench/history/file.ts'
import { renderTrends } from '../../../scripts/bench/history/report.ts'
import { isAlike, trendsOf } from '../../../scripts/bench/history/trends.ts'
import { readOptions } from '../../../scripts/bench/options.ts'

const facts = { date: '2026-01-02T03:04:05.678Z', cpu: 'Fast', cpus: 2, openSearch: '3.8.0' }

/** A run that measured one ratio and one cost. */
function run(ratio: number, cost = 1, of: Partial<HistoryEntry> = {}): HistoryEntry {
  const parts = { api: { ratios: { 'api÷raw': ratio }, costs: { 'p50 api÷raw': cost } } }
  return { commit: 'abc1234', dirty: false, facts, options: { orders: 5_000 }, parts, ...of }
}

const folder = mkdtempSync(join(tmpdir(), 'bench-history-'))
const file = join(folder, 'history.ndjson')
beforeEach(() => {
  rmSync(file, { force: true })
})
afterAll(() => {
  rmSync(folder, { recursive: true })
})

describe('the history of the bench', () => {
  it('is empty where nothing was recorded', () => {
    expect(readHistory(file)).toEqual({ entries: [], broken: [] })
  })

  it('has what was recorded, a line a run, the oldest first', () => {
    appendEntry(run(1), file)
    appendEntry(run(2), file)
    expect(readHistory(file)).toEqual({ entries: [run(1), run(2)], broken: [] })
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(3)
  })

  it('names a broken line by its number, and has all others', () => {
    appendEntry(run(1), file)
    appendFileSync(file, '{"commit":\n{"commit":"abc1234"}\n')
    appendEntry(run(2), file)
    const { entries, broken } = readHistory(file)
    expect(entries).toEqual([run(1), run(2)])
    expect(broken).toEqual([
      expect.stringMatching(/^history\.ndjson, line 2: .*JSON/),
      expect.stringMatching(/^history\.ndjson, line 3: \/dirty: /),
    ])
  })

  it('is not spoilt by a line that was cut off', () => {
    writeFileSync(file, '{"commit":')
    appendEntry(run(1), file)
    const { entries, broken } = readHistory(file)
    expect(entries).toEqual([run(1)])
    expect(broken).toHaveLength(1)
  })
})

describe('what is kept of a run', () => {
  const report = { tables: [], figures: {}, failures: [] }
  const ratios = { measured: 0.123456, 'not measured': Number.NaN }
  const reports = { api: { ...report, ratios, costs: { cost: 2 } }, lag: report }
  const options = readOptions(['--orders', '5000', '--json', 'somewhere.json'])
  const entry = entryOf({ commit: 'abc1234', dirty: true, facts, options, reports })

  it('are the ratios of each part, where they could be measured', () => {
    expect(entry.parts).toEqual({
      api: { ratios: { measured: 0.1235 }, costs: { cost: 2 } },
      lag: { ratios: {}, costs: {} },
    })
  })

  it('is how it was measured, and nothing of where', () => {
    expect(entry.options).toMatchObject({ orders: 5_000, seconds: 8, largest: 1_000_000 })
    expect(JSON.stringify(entry)).not.toContain('somewhere')
  })

  it('can be read again', () => {
    appendEntry(entry, file)
    expect(readHistory(file)).toEqual({ entries: [entry], broken: [] })
  })
})

describe('a run beside those before it', () => {
  const names = ({ name }: { name: string }) => name
  const worse = (now: HistoryEntry, past: readonly HistoryEntry[]) =>
    trendsOf(now, past)
      .filter(({ isWorse }) => isWorse)
      .map(names)

  it.each([
    ['another processor', { facts: { ...facts, cpu: 'Slow' } }],
    ['more processors', { facts: { ...facts, cpus: 8 } }],
    ['more orders', { options: { orders: 200_000 } }],
  ])('is not compared with one of %s', (_, of) => {
    expect(isAlike(run(1, 1, of), run(1))).toBe(false)
    const others = Array.from({ length: 3 }, () => run(1, 1, of))
    expect(worse(run(0.1), others)).toEqual([])
    expect(renderTrends(run(0.1), [run(1, 1, of)])).toContain('The history has no run of api on ')
  })

  it('is worse where a ratio is below all of them by more than they differ by', () => {
    const past = [run(0.8), run(0.7), run(0.9)]
    expect(worse(run(0.66), past)).toEqual(['api: api÷raw'])
    expect(worse(run(0.67), past)).toEqual([])
    expect(worse(run(2), past)).toEqual([])
  })

  it('is worse where a cost is above all of them by more than they differ by', () => {
    const past = [run(1, 1.2), run(1, 1.4), run(1, 1.3)]
    expect(worse(run(1, 1.48), past)).toEqual(['api: p50 api÷raw'])
    expect(worse(run(1, 1.46), past)).toEqual([])
    expect(worse(run(1, 0.1), past)).toEqual([])
  })

  it('is not judged by so few that nobody knows by how much they differ', () => {
    expect(worse(run(0.1), [run(0.8), run(0.8)])).toEqual([])
    expect(worse(run(0.1), [run(0.8), run(0.8), run(0.8)])).toEqual(['api: api÷raw'])
  })

  it('looks back at ten of them: an old one that was slow excuses nothing', () => {
    const ten = Array.from({ length: 10 }, () => run(0.8))
    expect(worse(run(0.5), [run(0.1), ...ten])).toEqual(['api: api÷raw'])
    expect(worse(run(0.5), [...ten.slice(1), run(0.1)])).toEqual([])
  })

  it('tells a ratio that none of them has, and does not judge it', () => {
    const [ratio, cost] = trendsOf(run(0.1), [run(1, 1, { parts: {} })])
    expect(ratio).toEqual({ name: 'api: api÷raw', now: 0.1, past: undefined, isWorse: false })
    expect(cost?.past).toBeUndefined()
  })

  it('is told with the latest, the best and the worst, and what is worse by name', () => {
    const told = renderTrends(run(0.35), [run(0.9), run(0.7), run(0.8)]).split('\n')
    expect(told[0]).toContain('the latest: abc1234, 2026-01-02')
    const row = told.find((line) => line.startsWith('! api: api÷raw '))
    expect(row?.split(/ {2,}/)).toEqual(['! api: api÷raw', '0.35', '0.80', '0.90', '0.70', '3'])
    expect(told).toContain('! api: api÷raw: 0.35, ×0.50 of the worst of 3 runs')
  })

  it('is told to be the first of its part', () => {
    const told = renderTrends(run(0.9), [run(0.9, 1, { parts: {} })])
    expect(told).toBe('The history has no run of api on 2 × Fast with 5000 orders yet')
  })

  it('says so when nothing is worse', () => {
    expect(renderTrends(run(0.9), [run(0.9)])).toContain('none is worse')
  })
})
