import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type Static, Type } from '@sinclair/typebox'
import type { BenchOptions } from '../options.ts'
import type { PartReport, Ratios } from '../part.ts'

const Kept = Type.Record(Type.String(), Type.Number())

/** A run of the bench, as the history keeps it: one line. Facts besides those named here may come and go. */
export const HistoryEntry = Type.Object({
  /** Of the code that was measured; `dirty`: not quite that, but changed since. */
  commit: Type.String(),
  dirty: Type.Boolean(),
  facts: Type.Object({
    date: Type.String(),
    cpu: Type.String(),
    cpus: Type.Integer(),
    openSearch: Type.String(),
  }),
  options: Type.Object({ orders: Type.Integer() }),
  parts: Type.Record(Type.String(), Type.Object({ ratios: Kept, costs: Kept })),
})

export type HistoryEntry = Static<typeof HistoryEntry>

/** Finer than any two runs agree. */
const DIGITS = 4
const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
/** Written by the bench itself. */
const OWN_FILES = ['scripts/bench/history.ndjson', 'scripts/bench/chart.svg']

interface Run extends Pick<HistoryEntry, 'commit' | 'dirty'> {
  facts: HistoryEntry['facts']
  options: BenchOptions
  reports: Readonly<Record<string, PartReport>>
}

/** What is to be kept of a run. */
export function entryOf({ commit, dirty, facts, options, reports }: Run): HistoryEntry {
  const { orders, seconds, rounds, connections, loadOrders, rate, largest } = options
  const taken = { orders, seconds, rounds, connections, loadOrders, rate, largest }
  const parts = Object.entries(reports).map(([name, { ratios = {}, costs = {} }]) => {
    return [name, { ratios: rounded(ratios), costs: rounded(costs) }]
  })
  return {
    commit,
    dirty,
    facts,
    options: taken,
    parts: Object.fromEntries(parts),
  }
}

/** Of the folder that the bench lies in; unknown where that is no checkout. */
export function readCommit(): Pick<HistoryEntry, 'commit' | 'dirty'> {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    const others = OWN_FILES.map((file) => `:!${file}`)
    const changes = git('status', '--porcelain', '--', '.', ...others)
    return { commit: git('rev-parse', '--short', 'HEAD').trim(), dirty: changes !== '' }
  } catch {
    return { commit: 'unknown', dirty: true }
  }
}

/** JSON knows no other than finite numbers; where nothing was measured, there is nothing to keep. */
function rounded(ratios: Ratios): Record<string, number> {
  const measured = Object.entries(ratios).filter(([, value]) => Number.isFinite(value))
  return Object.fromEntries(
    measured.map(([name, value]) => [name, Number(value.toPrecision(DIGITS))]),
  )
}
