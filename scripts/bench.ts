import { writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { onFirstSignal } from '../src/commands/signals.ts'
import { compareApi } from './bench/compare-api.ts'
import { compareDefinitions } from './bench/compare-definitions.ts'
import { type BenchContext, withContext } from './bench/context.ts'
import { describe, readFacts, readLoad } from './bench/facts.ts'
import { readOptions, UsageError } from './bench/options.ts'
import type { HeatResult } from './bench/race.ts'
import { apiFigures, renderApi } from './bench/report-api.ts'
import { definitionFigures, renderDefinitions } from './bench/report-definitions.ts'
import { failuresOf } from './bench/report-failures.ts'

// Measures the service beside the search that it rests on, and its index beside others that it could have.
// Tables go to stdout, progress to stderr. Only ratios of one run say something: machines differ, and so
// does one machine from hour to hour.
const interrupted = new AbortController()
onFirstSignal((signal) => {
  process.exitCode = 128 + constants.signals[signal]
  interrupted.abort(new Error(`ended by ${signal}`))
})

try {
  const options = readOptions(process.argv.slice(2))
  if (options.json !== undefined) reserve(options.json)
  const context = { env: process.env, options, signal: interrupted.signal, log: console.error }
  await withContext(context, bench)
} catch (error) {
  if (!interrupted.signal.aborted && !(error instanceof UsageError)) throw error
  console.error(error instanceof Error ? error.message : error)
  process.exitCode ??= 2
}

async function bench(context: BenchContext): Promise<void> {
  const { options, cluster, prefix } = context
  const facts = await readFacts(context)
  console.log(describe(context, facts))

  const api = options.parts.includes('api') ? await compareApi(context) : []
  for (const compared of api) console.log(`\n${renderApi(compared, context.cases)}`)
  await cluster.remove(prefix)

  const isAsked = options.parts.includes('definitions')
  const definitions = isAsked ? await compareDefinitions(context) : []
  for (const compared of definitions) console.log(`\n${renderDefinitions(compared)}`)

  const loadAtEnd = readLoad()
  console.log(`\nload average at the end: ${loadAtEnd}`)
  if (options.json !== undefined) {
    const figures = {
      facts: { ...facts, loadAtEnd },
      options,
      api: api.map((compared) => ({ ...compared, results: compared.results.map(apiFigures) })),
      definitions: definitions.map((compared) => {
        return { ...compared, results: compared.results.map(definitionFigures) }
      }),
    }
    writeFileSync(options.json, `${JSON.stringify(figures, null, 2)}\n`)
  }
  tellFailures([...api, ...definitions].flatMap(({ results }) => results))
}

/** @throws UsageError now, not after all is measured */
function reserve(file: string): void {
  try {
    writeFileSync(file, '')
  } catch (error) {
    throw new UsageError(`--json: ${error instanceof Error ? error.message : error}`)
  }
}

function tellFailures(results: readonly HeatResult[]): void {
  const failures = results.flatMap(failuresOf)
  if (failures.length === 0) return
  console.log(`\nNot every answer was right:\n${failures.join('\n')}`)
  process.exitCode = 1
}
