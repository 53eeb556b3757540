import { writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { onFirstSignal } from '../src/commands/signals.ts'
import { compareApi } from './bench/compare-api.ts'
import { compareDefinitions } from './bench/compare-definitions.ts'
import { compareLag } from './bench/compare-lag.ts'
import { compareLoad } from './bench/compare-load.ts'
import { compareOverload } from './bench/compare-overload.ts'
import { type BenchContext, withContext } from './bench/context.ts'
import { describe, readFacts, readLoad } from './bench/facts.ts'
import { readOptions, refuse } from './bench/options.ts'
import { apiFigures, renderApi } from './bench/report-api.ts'
import { definitionFigures, renderDefinitions } from './bench/report-definitions.ts'
import { failuresOf } from './bench/report-failures.ts'
import { lagFailures, lagFigures, renderLag } from './bench/report-lag.ts'
import { loadFigures, renderLoad } from './bench/report-load.ts'
import { overloadFailures, overloadFigures, renderOverload } from './bench/report-overload.ts'
import { UsageError } from './usage.ts'

// Measures the service beside the search that it rests on, its index beside others that it could have, its
// load beside raw bulks, and how long a change takes from the stream to a reader. Tables go to stdout,
// progress to stderr. Only ratios of one run say something: machines differ, and so does one machine from
// hour to hour.
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

  const load = options.parts.includes('load') ? await compareLoad(context) : undefined
  if (load) console.log(`\n${renderLoad(load)}`)

  const lag = options.parts.includes('lag') ? await compareLag(context) : undefined
  if (lag) console.log(`\n${renderLag(lag)}`)

  await cluster.remove(prefix)
  const overload = options.parts.includes('overload') ? await compareOverload(context) : undefined
  if (overload) console.log(`\n${renderOverload(overload)}`)

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
      ...(load && { load: loadFigures(load) }),
      ...(lag && { lag: lagFigures(lag) }),
      ...(overload && { overload: overloadFigures(overload) }),
    }
    writeFileSync(options.json, `${JSON.stringify(figures, null, 2)}\n`)
  }
  const results = [...api, ...definitions].flatMap((compared) => compared.results)
  tellFailures([
    ...results.flatMap(failuresOf),
    ...(lag ? lagFailures(lag) : []),
    ...(overload ? overloadFailures(overload) : []),
  ])
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
