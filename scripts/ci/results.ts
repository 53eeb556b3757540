import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const Test = Type.Object({
  fullName: Type.String(),
  status: Type.String(),
  failureMessages: Type.Array(Type.String()),
})
const File = Type.Object({
  name: Type.String(),
  status: Type.String(),
  /** Of a hook or an import that failed; empty when tests failed. */
  message: Type.String(),
  assertionResults: Type.Array(Test),
})

/** The parts of vitest's JSON report that we read. */
const Report = Type.Object({
  numPassedTests: Type.Integer(),
  numPendingTests: Type.Integer(),
  numTodoTests: Type.Integer(),
  testResults: Type.Array(File),
})
export type Report = Static<typeof Report>

/** What several runs of vitest found. */
export interface Results {
  readonly passed: number
  /** Failed tests, and files in which only a hook or an import failed: name, then message. */
  readonly failures: readonly string[]
  readonly skipped: number
}

/** Enough for the message and the line of the test. */
const MESSAGE_LINES = 20

/** @throws Error for anything but a report of vitest */
export function readReport(json: string): Report {
  return Value.Parse(Report, JSON.parse(json))
}

export function sumResults(reports: readonly Report[]): Results {
  const sum = (of: (report: Report) => number) => reports.reduce((total, it) => total + of(it), 0)
  return {
    passed: sum((report) => report.numPassedTests),
    failures: reports.flatMap((report) => report.testResults.flatMap(failuresOf)),
    skipped: sum((report) => report.numPendingTests + report.numTodoTests),
  }
}

function failuresOf(file: Static<typeof File>): string[] {
  const tests = file.assertionResults
    .filter(({ status }) => status === 'failed')
    .map((test) => describe(`${file.name} > ${test.fullName}`, test.failureMessages.join('\n')))
  const hasOther = file.message !== '' || (file.status === 'failed' && tests.length === 0)
  return hasOther ? [...tests, describe(file.name, file.message)] : tests
}

const describe = (name: string, message: string) =>
  [name, ...message.split('\n').slice(0, MESSAGE_LINES)].join('\n  ')
