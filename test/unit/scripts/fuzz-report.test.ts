import { describe, expect, it } from 'vitest'
import {
  faultsOf,
  type Report,
  type Run,
  readReport,
  summaryLine,
} from '../../../scripts/fuzz/report.ts'

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

describe('what the runs of the fuzzer tell', () => {
  it('is green when they found nothing and tried enough together', () => {
    expect(faultsOf([ofCases(), ofLinks()], 10_000)).toEqual([])
  })

  it.each<[string, Partial<Report>, string]>([
    [
      'an answer was not as described',
      { failures: [{ title: 'Server error', operations: ['GET /v1/orders'] }], exit_code: 1 },
      'Server error: GET /v1/orders',
    ],
    ['a check could not be made', { errors: [{ title: 'Runtime Error' }] }, 'Runtime Error'],
    [
      'a case had no answer',
      { test_cases: { generated: 8_000, errored: 1 } },
      '1 cases without an answer',
    ],
    [
      'they tried too little together',
      { test_cases: { generated: 5_654, errored: 0 } },
      '9999 cases are fewer than 10000',
    ],
    ['one had nothing to try', { operations: { selected: 0 } }, 'no operations'],
    [
      'an operation refused every case',
      { valid_rates: { ...report().valid_rates, 'GET /v1/orders': { fuzzing: { accepted: 0 } } } },
      'an operation that never answered 200',
    ],
    [
      'an operation had no case',
      { valid_rates: { 'GET /v1/orders': { fuzzing: { accepted: 1 } } } },
      'an operation that never answered 200',
    ],
    ['schemathesis says so for another reason', { exit_code: 3 }, 'exit status 3'],
  ])('is red when %s', (_name, changes, fault) => {
    expect(faultsOf([ofCases(changes), ofLinks()], 10_000)).toEqual([fault])
  })

  it.each<[string, Partial<Run>, string]>([
    ['no cursor was accepted', { cursors: 0 }, 'no cursor of its own was accepted'],
    [
      'a phase was left out of its run',
      phasesWith({ stateful: ended('skip') }),
      'phase stateful: skip',
    ],
    [
      'a phase is not known any more',
      phasesWith({ fuzzing: ended('success') }),
      'phase stateful: missing',
    ],
  ])('is red when %s', (_name, changes, fault) => {
    expect(faultsOf([ofCases(), ofLinks(changes)], 10_000)).toEqual([fault])
  })

  it('ends with their cases, cursors, failures, seed and seconds', () => {
    expect(summaryLine([ofCases(), ofLinks()], ['one'])).toBe(
      'fuzz: 12,345 cases, 1,234 cursors accepted, 1 failures, seed 7, 91 s',
    )
  })
})

describe('a report', () => {
  it('is read with whatever else it tells', () => {
    expect(readReport(JSON.stringify({ ...report(), baseline: null }))).toEqual(report())
  })

  it.each(['', '{}', JSON.stringify({ ...report(), test_cases: {} })])(
    'is none without what we judge by: %j',
    (json) => {
      expect(() => readReport(json)).toThrow()
    },
  )
})
