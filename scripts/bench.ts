import { writeFileSync } from 'node:fs'
import { drawChart } from './bench/chart.ts'
import { type BenchContext, withContext } from './bench/context.ts'
import { appendEntry, entryOf, readCommit, readHistory } from './bench/history.ts'
import { benchUsage } from './bench/options.ts'
import type { PartReport } from './bench/part.ts'
import { parts } from './bench/parts.ts'
import { describeEnvironment, readEnvironment, readLoad } from './bench/reporting/environment.ts'
import { renderTrends } from './bench/trends.ts'
import { interruptible } from './interruptible.ts'

// Measures the service in parts, each against a baseline. It writes tables to stdout and progress to
// stderr. Only ratios of one run are meaningful: machines differ, and so does one machine over time.
const { readOptions, refuse } = benchUsage(parts)

await interruptible(async (signal) => {
  const options = readOptions(process.argv.slice(2))
  if (options.json !== undefined) reserve(options.json)
  if (options.chart) drawLatest()
  else await withContext({ env: process.env, options, signal, log: console.error }, bench)
})

async function bench(context: BenchContext): Promise<void> {
  const { options, cluster, prefix } = context
  const commit = readCommit()
  const atStart = await readEnvironment(context)
  console.log(describeEnvironment(context, atStart))

  const reports: Record<string, PartReport> = {}
  for (const { name, measure } of parts.filter((part) => options.parts.includes(part.name))) {
    await using scope = new AsyncDisposableStack()
    scope.defer(() => cluster.remove(prefix))
    const report = await measure(context, scope)
    reports[name] = report
    for (const table of report.tables) console.log(`\n${table}`)
  }

  const environment = { ...atStart, loadAtEnd: readLoad() }
  console.log(`\nload average at the end: ${environment.loadAtEnd}`)
  if (options.json !== undefined) {
    const figures = Object.entries(reports).map(([name, report]) => [name, report.figures])
    const all = { environment, options, ...Object.fromEntries(figures) }
    writeFileSync(options.json, `${JSON.stringify(all, null, 2)}\n`)
  }
  const failures = Object.values(reports).flatMap((report) => report.failures)
  const { entries, broken } = readHistory()
  const entry = entryOf({ ...commit, environment, options, reports })
  console.log(
    `\n${[renderTrends(entry, entries), ...broken.map((line) => `! ${line}`)].join('\n')}`,
  )
  if (options.record && failures.length === 0) {
    appendEntry(entry)
    drawChart([...entries, entry])
    console.log('recorded')
  }
  if (failures.length === 0) return
  if (options.record) console.log('! not recorded: there were wrong answers')
  console.log(`\nThere were wrong answers:\n${failures.join('\n')}`)
  process.exitCode = 1
}

/** @throws UsageError where the history has no run of the part `api` */
function drawLatest(): void {
  const { entries, broken } = readHistory()
  for (const line of broken) console.error(line)
  if (!drawChart(entries)) refuse('--chart: the history has no run of the part api')
}

/** @throws UsageError before any measurement, where the file cannot be written */
function reserve(file: string): void {
  try {
    writeFileSync(file, '')
  } catch (error) {
    refuse(`--json: ${error instanceof Error ? error.message : error}`)
  }
}
