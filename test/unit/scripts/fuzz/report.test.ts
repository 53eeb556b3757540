import { describe, expect, it } from 'vitest'
import {
  faultsOf,
  type Report,
  type Run,
  readReport,
  summaryLine,
} from '../../../../scripts/fuzz/report.ts'

const ended = (status: string) => ({ status })

const report = (changes: Partial<Report> = {}): Report => ({
  seed: 7,
  running_time: 61.4,
  exit_code: 0,
  operations: { selected: 2 },
  phases: { examples: ended('success'), fuzzing: ended('success'), stateful: ended('skip') },
  test_cases: { generated: 8_000, errored: 0 },
  failures: [],
  errors: [],
  valid_rates: {
    'GET /v1/orders': { coverage: { accepted: 0 }, fuzzing: { accepted: 3 } },
    'GET /v1/orders/{id}': { fuzzing: { accepted: 1 } },
  },
  ...changes,
})

const ofCases = (changes: Partial<Report> = {}): Run => ({
  phases: ['examples', 'fuzzing'],
  report: report(changes),
  cursors: 0,
})

const ofLinks = (changes: Partial<Run> = {}): Run => ({
  phases: ['stateful'],
  report: report({
    running_time: 30,
    phases: { examples: ended('skip'), fuzzing: ended('skip'), stateful: ended('success') },
    test_cases: { generated: 4_345, errored: 0 },
    valid_rates: {},
  }),
  cursors: 1_234,
  ...changes,
})

const phasesWith = (phases: Report['phases']) => ({ report: report({ phases }) })

describe('the result of the fuzzer runs', () => {
  it('the result is green without failures and with enough cases in total', () => {
    expect(faultsOf([ofCases(), ofLinks()], 10_000)).toEqual([])
  })

  it.each<[string, Partial<Report>, string]>([
    [
      'a response violated the description',
      { failures: [{ title: 'Server error', operations: ['GET /v1/orders'] }], exit_code: 1 },
      'Server error: GET /v1/orders',
    ],
    ['a check could not run', { errors: [{ title: 'Runtime Error' }] }, 'Runtime Error'],
    [
      'a case had no response',
      { test_cases: { generated: 8_000, errored: 1 } },
      '1 cases without a response',
    ],
    [
      'the runs had too few cases in total',
      { test_cases: { generated: 5_654, errored: 0 } },
      '9999 cases are fewer than 10000',
    ],
    ['a run had nothing to test', { operations: { selected: 0 } }, 'no operations'],
    [
      'an operation rejected every case',
      { valid_rates: { ...report().valid_rates, 'GET /v1/orders': { fuzzing: { accepted: 0 } } } },
      'an operation that never responded 200: GET /v1/orders',
    ],
    [
      'an operation had no case',
      { valid_rates: { 'GET /v1/orders': { fuzzing: { accepted: 1 } } } },
      'an operation that never responded 200',
    ],
    ['schemathesis exits with another status', { exit_code: 3 }, 'exit status 3'],
  ])('the result is red when %s', (_name, changes, fault) => {
    expect(faultsOf([ofCases(changes), ofLinks()], 10_000)).toEqual([fault])
  })

  it.each<[string, Partial<Run>, string]>([
    ['no cursor was accepted', { cursors: 0 }, 'no cursor of its own was accepted'],
    ['a run omitted a phase', phasesWith({ stateful: ended('skip') }), 'phase stateful: skip'],
    ['a phase is unknown', phasesWith({ fuzzing: ended('success') }), 'phase stateful: missing'],
  ])('the result is red when a stateful run has a defect: %s', (_name, changes, fault) => {
    expect(faultsOf([ofCases(), ofLinks(changes)], 10_000)).toEqual([fault])
  })

  it('the summary line has the cases, cursors, failures, seed and the seconds of the longest run', () => {
    expect(summaryLine([ofCases(), ofLinks()], ['one'])).toBe(
      'fuzz: 12,345 cases, 1,234 cursors accepted, 1 failures, seed 7, 61 s',
    )
  })
})

describe('the report of the fuzzer', () => {
  it('the report is read with unknown fields ignored', () => {
    expect(readReport(JSON.stringify({ ...report(), baseline: null }))).toEqual(report())
  })

  it.each(['', '{}', JSON.stringify({ ...report(), test_cases: {} })])(
    'the report is rejected without a required field: %j',
    (json) => {
      expect(() => readReport(json)).toThrow()
    },
  )
})
