import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const Phase = Type.Object({ status: Type.String() })
const Rate = Type.Object({ accepted: Type.Integer() })

/** What we read of the report that schemathesis writes of a run. */
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
  valid_rates: Type.Record(Type.String(), Type.Record(Type.String(), Rate)),
})
export type Report = Static<typeof Report>

const PHASES = ['examples', 'coverage', 'fuzzing', 'stateful']
/** A phase that failed has its failures told one by one. */
const ENDED = ['success', 'failure']

/** @throws Error for a text that is no report, such as that of a run that did not begin */
export function readReport(json: string): Report {
  return Value.Parse(Report, JSON.parse(json))
}

/** What is wrong with a run: what it found, and what it should have tried and did not. */
export function faultsOf(report: Report, minimumCases: number): string[] {
  const { operations, test_cases: cases, phases } = report
  const answered = Object.values(report.valid_rates).filter((rates) =>
    Object.values(rates).some(({ accepted }) => accepted > 0),
  )
  const faults = [
    ...report.failures.map((failure) => `${failure.title}: ${failure.operations.join(', ')}`),
    ...report.errors.map(({ title }) => title),
    ...PHASES.map((name) => [name, phases[name]?.status ?? 'missing'] as const)
      .filter(([, status]) => !ENDED.includes(status))
      .map(([name, status]) => `phase ${name}: ${status}`),
    cases.errored > 0 && `${cases.errored} cases without an answer`,
    cases.generated < minimumCases && `${cases.generated} cases are fewer than ${minimumCases}`,
    operations.selected === 0 && 'no operations',
    // All 401 or 404 is all as described.
    answered.length < operations.selected && 'an operation that never answered 200',
  ].filter((fault) => fault !== false)
  if (faults.length === 0 && report.exit_code !== 0) return [`exit status ${report.exit_code}`]
  return faults
}

/** The last line of a run. */
export function tell(report: Report, faults: readonly string[]): string {
  const cases = report.test_cases.generated.toLocaleString('en')
  const seconds = Math.round(report.running_time)
  return `fuzz: ${cases} cases, ${faults.length} failures, seed ${report.seed}, ${seconds} s`
}
