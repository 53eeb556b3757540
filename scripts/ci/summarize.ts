import { readFileSync } from 'node:fs'
import { type Report, readReport, sumResults } from './results.ts'

// Prints the failures in reports of vitest, whose files are the arguments, and a last line with the
// counts of all. Exits with 1 after a failure, a skipped test or a missing report.
const reports: Report[] = []
for (const file of process.argv.slice(2)) {
  try {
    reports.push(readReport(readFileSync(file, 'utf8')))
  } catch (error) {
    console.error(`${file} is no report of vitest, so its run ended early: ${error}`)
    process.exitCode = 1
  }
}
const { passed, failures, skipped } = sumResults(reports)
for (const failure of failures) console.error(`FAILED ${failure}`)
if (skipped > 0) console.error(`${skipped} tests were skipped, and none may be`)
if (failures.length + skipped > 0) process.exitCode = 1
console.log(`${passed} passed, ${failures.length} failed`)
