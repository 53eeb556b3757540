import { describe, expect, it } from 'vitest'
import { faultsOf, type Report, readReport, tell } from '../../../scripts/fuzz/report.ts'

const ended = (status: string) => ({ status })

const report = (changes: Partial<Report> = {}): Report => ({
  seed: 7,
  running_time: 61.4,
  exit_code: 0,
  operations: { selected: 2 },
  phases: {
    examples: ended('success'),
    coverage: ended('success'),
    fuzzing: ended('success'),
    stateful: ended('success'),
  },
  test_cases: { generated: 12_345, errored: 0 },
  failures: [],
  errors: [],
  valid_rates: {
    'GET /v1/orders': { coverage: { accepted: 0 }, fuzzing: { accepted: 3 } },
    'GET /v1/orders/{id}': { fuzzing: { accepted: 1 } },
  },
  ...changes,
})

describe('a run of the fuzzer', () => {
  it('is green when it found nothing and tried enough', () => {
    expect(faultsOf(report(), 10_000)).toEqual([])
  })

  it.each<[string, Partial<Report>, string]>([
    [
      'an answer was not as described',
      { failures: [{ title: 'Server error', operations: ['GET /v1/orders'] }], exit_code: 1 },
      'Server error: GET /v1/orders',
    ],
    ['a check could not be made', { errors: [{ title: 'Runtime Error' }] }, 'Runtime Error'],
    [
      'a phase was left out',
      { phases: { ...report().phases, stateful: ended('skip') } },
      'phase stateful: skip',
    ],
    [
      'a phase is not known any more',
      {
        phases: {
          examples: ended('success'),
          coverage: ended('success'),
          fuzzing: ended('success'),
        },
      },
      'phase stateful: missing',
    ],
    [
      'a case had no answer',
      { test_cases: { generated: 12_345, errored: 1 } },
      '1 cases without an answer',
    ],
    [
      'it tried nothing',
      { test_cases: { generated: 0, errored: 0 } },
      '0 cases are fewer than 10000',
    ],
    ['there was nothing to try', { operations: { selected: 0 }, valid_rates: {} }, 'no operations'],
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
    expect(faultsOf(report(changes), 10_000)).toEqual([fault])
  })

  it('ends with its cases, failures, seed and seconds', () => {
    expect(tell(report(), ['one'])).toBe('fuzz: 12,345 cases, 1 failures, seed 7, 61 s')
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
