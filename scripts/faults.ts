import { writeFileSync } from 'node:fs'
import { constants, cpus, loadavg } from 'node:os'
import { onFirstSignal } from '../src/cli/signals.ts'
import { breachesOf } from './faults/breaches.ts'
import { runMatrix } from './faults/matrix.ts'
import { renderMatrix } from './faults/table.ts'

// Lets the service run into every fault while requests keep arriving, and writes what it answered to
// openapi/fault-matrix.md. It takes about four minutes. When a promise was broken it exits with 1, and what it
// would have written goes to standard output.
const FILE = new URL('../openapi/fault-matrix.md', import.meta.url)

const interrupted = new AbortController()
onFirstSignal((signal) => {
  process.exitCode = 128 + constants.signals[signal]
  interrupted.abort(new Error(`ended by ${signal}`))
})

try {
  const load = loadavg()[0]?.toFixed(1)
  const matrix = await runMatrix({
    rate: 50,
    warmMs: 10_000,
    faultMs: 6_000,
    restMs: 4_000,
    requestDeadlineMs: 2_500,
    searchDeadlineMs: 2_000,
    signal: interrupted.signal,
    log: console.error,
  })
  const date = new Date().toISOString().slice(0, 10)
  const machine = `${cpus().length} CPUs, with a load average of ${load} at the start`
  const page = renderMatrix(matrix, `On ${date}, on a machine of ${machine}.`)
  const breaches = breachesOf(matrix)
  if (breaches.length === 0) {
    writeFileSync(FILE, page)
  } else {
    console.log(page)
    for (const breach of breaches) console.error(breach)
    process.exitCode = 1
  }
} catch (error) {
  if (!interrupted.signal.aborted) throw error
}
