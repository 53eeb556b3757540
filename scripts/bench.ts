import { writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { onFirstSignal } from '../src/cli/signals.ts'
import { drawChart } from './bench/chart/draw.ts'
import { type BenchContext, withContext } from './bench/context.ts'
import { readCommit } from './bench/history/entry.ts'
import { readHistory } from './bench/history/file.ts'
import { keepRun } from './bench/history/keep.ts'
import { readOptions, refuse } from './bench/options.ts'
import type { PartReport } from './bench/part.ts'
import { parts } from './bench/parts.ts'
import { describe, readFacts, readLoad } from './bench/reporting/facts.ts'
import { UsageError } from './usage.ts'

// Measures the service in parts, each beside something that says what the figure is worth. Tables go to
// stdout, progress to stderr. Only ratios of one run say something: machines differ, and so does one machine
// from hour to hour.
const interrupted = new AbortController()
onFirstSignal((signal) => {
  process.exitCode = 128 + constants.signals[signal]
  interrupted.abort(new Error(`ended by ${signal}`))
})

try {
  const options = readOptions(process.argv.slice(2))
  if (options.json !== undefined) reserve(options.json)
  const context = { env: process.env, options, signal: interrupted.signal, log: console.error }
  if (options.chart) drawLatest()
  else await withContext(context, bench)
} catch (error) {
  if (!interrupted.signal.aborted && !(error instanceof UsageError)) throw error
  console.error(error instanceof Error ? error.message : error)
  process.exitCode ??= 2
}

async function bench(context: BenchContext): Promise<void> {
  const { options, cluster, prefix } = context
  const commit = readCommit()
  const factsAtStart = await readFacts(context)
  console.log(describe(context, factsAtStart))

  const reports: Record<string, PartReport> = {}
  for (const { name, measure } of parts.filter(({ name }) => options.parts.includes(name))) {
    const report = await measure(context)
    reports[name] = report
    for (const table of report.tables) console.log(`\n${table}`)
    await cluster.remove(prefix)
  }

  const facts = { ...factsAtStart, loadAtEnd: readLoad() }
  console.log(`\nload average at the end: ${facts.loadAtEnd}`)
  if (options.json !== undefined) {
    const measured = Object.entries(reports).map(([name, { figures }]) => [name, figures])
    const all = { facts, options, ...Object.fromEntries(measured) }
    writeFileSync(options.json, `${JSON.stringify(all, null, 2)}\n`)
  }
  console.log(`\n${keepRun({ commit, facts, options, reports })}`)
  tellFailures(Object.values(reports).flatMap(({ failures }) => failures))
}

/** @throws UsageError where nothing was recorded that it could show */
function drawLatest(): void {
  const { entries, broken } = readHistory()
  for (const line of broken) console.error(line)
  if (!drawChart(entries)) refuse('--chart: no run of the part api was recorded yet')
}

/** @throws UsageError now, not after all is measured */
function reserve(file: string): void {
  try {
    writeFileSync(file, '')
  } catch (error) {
    refuse(`--json: ${error instanceof Error ? error.message : error}`)
  }
}

function tellFailures(failures: readonly string[]): void {
  if (failures.length === 0) return
  console.log(`\nNot every answer was right:\n${failures.join('\n')}`)
  process.exitCode = 1
}
