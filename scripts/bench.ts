import { writeFileSync } from 'node:fs'
import { drawChart } from './bench/chart.ts'
import { type BenchContext, readEnvironment, readLoad, withContext } from './bench/context.ts'
import { appendEntry, readCommit, readHistory, renderTrends, rounded } from './bench/history.ts'
import { benchUsage } from './bench/options.ts'
import { parts } from './bench/parts.ts'
import { failuresOf, type PartReport, recordedOf, renderSection } from './bench/report.ts'
import { interruptible } from './interruptible.ts'

// Measures the service in parts, each against a baseline. It writes tables to stdout and progress
// to stderr. Only ratios of one run are meaningful: machines differ, and so does one machine over
// time.
const { readOptions, refuse } = benchUsage(parts)

await interruptible(async (signal) => {
  const options = readOptions(process.argv.slice(2))
  if (options.json !== undefined) reserve(options.json)
  if (!options.chart)
    await withContext({ env: process.env, options, signal, log: console.error }, bench)
  else if (!drawChart(readHistory())) refuse('--chart: the history has no run of the part api')
})

async function bench(context: BenchContext): Promise<void> {
  const { options, cluster, prefix } = context
  const { parts: chosen, states, json, record, chart: _, ...recordedOptions } = options
  const commit = readCommit()
  const past = readHistory()
  const atStart = await readEnvironment(context)
  console.log(atStart, options)

  const reports: Record<string, PartReport> = {}
  for (const { name, measure } of parts.filter((part) => chosen.includes(part.name))) {
    await using scope = new AsyncDisposableStack()
    scope.defer(() => cluster.remove(prefix))
    const report = await measure(context, scope)
    reports[name] = report
    for (const section of report.sections) console.log(`\n${renderSection(section)}`)
  }

  const environment = { ...atStart, loadAtEnd: readLoad() }
  const recorded = Object.entries(reports).map(([name, report]) => {
    return [name, rounded(recordedOf(report))]
  })
  const measured = { environment, options: recordedOptions, parts: Object.fromEntries(recorded) }
  const entry = { ...commit, ...measured }
  if (json !== undefined) {
    writeFileSync(json, `${JSON.stringify({ ...entry, states, reports }, null, 2)}\n`)
  }
  console.log(`\nload average at the end: ${environment.loadAtEnd}\n\n${renderTrends(entry, past)}`)

  const failures = Object.values(reports).flatMap(failuresOf)
  if (failures.length > 0) {
    console.log(`\nThere were wrong answers${record ? ', so nothing was recorded' : ''}:`)
    console.log(failures.join('\n'))
    process.exitCode = 1
  } else if (record) {
    appendEntry(entry)
    drawChart([...past, entry])
    console.log('recorded')
  }
}

/** @throws UsageError before any measurement, where the file cannot be written */
function reserve(file: string): void {
  try {
    writeFileSync(file, '')
  } catch (error) {
    refuse(`--json: ${error instanceof Error ? error.message : error}`)
  }
}
