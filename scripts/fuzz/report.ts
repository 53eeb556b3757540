import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const Phase = Type.Object({ status: Type.String() })
const Rate = Type.Object({ accepted: Type.Integer() })

/** The parts of schemathesis' report that we read. */
const Report = Type.Object({
  seed: Type.Integer(),
  running_time: Type.Number(),
  exit_code: Type.Integer(),
  operations: Type.Object({ selected: Type.Integer() }),
  phases: Type.Record(Type.String(), Phase),
  test_cases: Type.Object({ generated: Type.Integer(), errored: Type.Integer() }),
  failures: Type.Array(
    Type.Object({ title: Type.String(), operations: Type.Array(Type.String()) }),
  ),
  errors: Type.Array(Type.Object({ title: Type.String() })),
  /** Empty for a run of links only. */
  valid_rates: Type.Record(Type.String(), Type.Record(Type.String(), Rate)),
})
export type Report = Static<typeof Report>

/** A run of schemathesis with some of its phases. */
export interface Run {
  phases: readonly string[]
  report: Report
  /** Cursors of the service that it accepted for their own listing. */
  cursors: number
}

/** The failures of a failed phase are listed separately. */
const ENDED = ['success', 'failure']

/** @throws Error for an invalid report, such as that of a run that did not start */
export function readReport(json: string): Report {
  return Value.Parse(Report, JSON.parse(json))
}

/** The failures that the runs found, and the cases that they failed to try. */
export function faultsOf(runs: readonly Run[], minimumCases: number): string[] {
  const cases = casesOf(runs)
  const { answered, rejecting } = answersIn(runs)
  const faults = [
    cases < minimumCases && `${cases} cases are fewer than ${minimumCases}`,
    cursorsOf(runs) === 0 && 'no cursor of its own was accepted',
    // Responses with 401 or 404 only would match the description, too.
    answered.length < Math.max(...runs.map(({ report }) => report.operations.selected)) &&
      ['an operation that never responded 200', ...rejecting].join(': '),
  ].filter((fault) => fault !== false)
  return [...runs.flatMap(faultsOfOne), ...faults]
}

function faultsOfOne({ phases, report }: Run): string[] {
  const { operations, test_cases: cases } = report
  const faults = [
    ...report.failures.map((failure) => `${failure.title}: ${failure.operations.join(', ')}`),
    ...report.errors.map(({ title }) => title),
    ...phases
      .map((name) => [name, report.phases[name]?.status ?? 'missing'] as const)
      .filter(([, status]) => !ENDED.includes(status))
      .map(([name, status]) => `phase ${name}: ${status}`),
    cases.errored > 0 && `${cases.errored} cases without a response`,
    operations.selected === 0 && 'no operations',
  ].filter((fault) => fault !== false)
  if (faults.length === 0 && report.exit_code !== 0) return [`exit status ${report.exit_code}`]
  return faults
}

/** The result line of one target, whose runs are at the same time. */
export function summaryLine(runs: readonly Run[], faults: readonly string[]): string {
  const tried = `${counted(casesOf(runs))} cases, ${counted(cursorsOf(runs))} cursors accepted`
  const seeds = [...new Set(runs.map(({ report }) => report.seed))].join(' and ')
  const seconds = Math.round(Math.max(...runs.map(({ report }) => report.running_time)))
  return `fuzz: ${tried}, ${faults.length} failures, seed ${seeds}, ${seconds} s`
}

/** The operations that accepted a case, and the others that had one. */
function answersIn(runs: readonly Run[]) {
  const rates = runs.flatMap(({ report }) => Object.entries(report.valid_rates))
  const tried = [...new Set(rates.map(([operation]) => operation))]
  const answered = tried.filter((operation) =>
    rates.some(
      ([name, phases]) =>
        name === operation && Object.values(phases).some(({ accepted }) => accepted > 0),
    ),
  )
  return { answered, rejecting: tried.filter((operation) => !answered.includes(operation)) }
}

const casesOf = (runs: readonly Run[]) => sum(runs.map(({ report }) => report.test_cases.generated))
const cursorsOf = (runs: readonly Run[]) => sum(runs.map(({ cursors }) => cursors))
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
const counted = (number: number) => number.toLocaleString('en')
