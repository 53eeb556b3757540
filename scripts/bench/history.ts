import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { BenchOptions } from './options.ts'
import type { PartReport, Ratios } from './part.ts'

const Recorded = Type.Record(Type.String(), Type.Number())

/** A run of the bench, one line of the history. `environment` and `options` may have more properties. */
export const HistoryEntry = Type.Object({
  /** The commit that was measured. */
  commit: Type.String(),
  /** Whether the working tree had uncommitted changes. */
  dirty: Type.Boolean(),
  environment: Type.Object({
    date: Type.String(),
    cpu: Type.String(),
    cpus: Type.Integer(),
    openSearch: Type.String(),
  }),
  options: Type.Object({ orders: Type.Integer() }),
  parts: Type.Record(Type.String(), Type.Object({ ratios: Recorded, costs: Recorded })),
})
export type HistoryEntry = Static<typeof HistoryEntry>

export interface History {
  /** The oldest first. */
  entries: readonly HistoryEntry[]
  /** Invalid lines, each with its number and the reason. */
  broken: readonly string[]
}

const HISTORY_FILE = fileURLToPath(new URL('history.ndjson', import.meta.url))
const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** The bench writes these itself, so they do not make the working tree dirty. */
const OWN_FILES = ['scripts/bench/history.ndjson', 'scripts/bench/chart.svg']
/** Beyond the precision with which any two runs agree. */
const DIGITS = 4

interface Run extends Pick<HistoryEntry, 'commit' | 'dirty' | 'environment'> {
  options: BenchOptions
  reports: Readonly<Record<string, PartReport>>
}

export function entryOf({ commit, dirty, environment, options, reports }: Run): HistoryEntry {
  const {
    parts: _,
    states: _states,
    json: _json,
    record: _record,
    chart: _chart,
    ...taken
  } = options
  const parts = Object.entries(reports).map(([name, { ratios = {}, costs = {} }]) => {
    return [name, { ratios: rounded(ratios), costs: rounded(costs) }]
  })
  return { commit, dirty, environment, options: taken, parts: Object.fromEntries(parts) }
}

/** JSON has finite numbers only, so ratios without a measurement are left out. */
function rounded(ratios: Ratios): Record<string, number> {
  const measured = Object.entries(ratios).filter(([, value]) => Number.isFinite(value))
  return Object.fromEntries(
    measured.map(([name, value]) => [name, Number(value.toPrecision(DIGITS))]),
  )
}

/** The commit of the checkout; unknown outside of a checkout. */
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

export function readHistory(file = HISTORY_FILE): History {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  const entries: HistoryEntry[] = []
  const broken: string[] = []
  for (const [at, line] of lines.entries()) {
    if (line === '') continue
    const entry = parseEntry(line)
    if (typeof entry === 'string') broken.push(`${basename(file)}, line ${at + 1}: ${entry}`)
    else entries.push(entry)
  }
  return { entries, broken }
}

/** Appends a separate line, even after an incomplete write. */
export function appendEntry(entry: HistoryEntry, file = HISTORY_FILE): void {
  const isIncomplete = existsSync(file) && !/(^|\n)$/.test(readFileSync(file, 'utf8'))
  appendFileSync(file, `${isIncomplete ? '\n' : ''}${JSON.stringify(entry)}\n`)
}

/** The entry, or the reason why the line is invalid. */
function parseEntry(line: string): HistoryEntry | string {
  try {
    const value: unknown = JSON.parse(line)
    if (Value.Check(HistoryEntry, value)) return value
    const error = Value.Errors(HistoryEntry, value).First()
    return `${error?.path || '/'}: ${error?.message}`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
