import { writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { breachesOf } from './faults/breaches.ts'
import { runMatrix } from './faults/matrix.ts'
import { renderMatrix } from './faults/table.ts'
import { interruptible } from './interruptible.ts'

// Injects every fault while requests keep arriving, and writes the responses of the service to
// openapi/fault-matrix.md. It runs for about four minutes. After a broken promise it exits with 1
// and prints the page to standard output instead.
const FILE = new URL('../openapi/fault-matrix.md', import.meta.url)

await interruptible(async (signal) => {
  const load = loadavg()[0]?.toFixed(1)
  const matrix = await runMatrix({
    rate: 50,
    warmMs: 10_000,
    faultMs: 6_000,
    restMs: 4_000,
    requestDeadlineMs: 2_500,
    searchDeadlineMs: 2_000,
    signal,
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
})
