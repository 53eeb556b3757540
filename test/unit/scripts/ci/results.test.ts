import { describe, expect, it } from 'vitest'
import { type Report, readReport, sumResults } from '../../../../scripts/ci/results.ts'

type File = Report['testResults'][number]
type Test = File['assertionResults'][number]

const passing: Test = { fullName: 'a listing has a page', status: 'passed', failureMessages: [] }
const failing: Test = { ...passing, status: 'failed', failureMessages: ['expected 1 to be 2'] }
const file = (changes: Partial<File> = {}): File => ({
  name: 'test/a.test.ts',
  status: 'passed',
  message: '',
  assertionResults: [passing],
  ...changes,
})
const report = (...testResults: File[]): Report => ({
  numPassedTests: 3,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults,
})
const failuresIn = (changes: Partial<File>) => sumResults([report(file(changes))]).failures

describe('the results of several test runs', () => {
  it('the results of passing runs have no failure', () => {
    expect(sumResults([report(file()), report(file())])).toEqual({
      passed: 6,
      failures: [],
      skipped: 0,
    })
  })

  it('a failed test is listed with its file and message', () => {
    expect(failuresIn({ status: 'failed', assertionResults: [passing, failing] })).toEqual([
      'test/a.test.ts > a listing has a page\n  expected 1 to be 2',
    ])
  })

  it('a failed hook is a failure of its file, although no test failed', () => {
    expect(failuresIn({ status: 'failed', message: 'no port is free' })).toEqual([
      'test/a.test.ts\n  no port is free',
    ])
  })

  it('a file that failed without a message is a failure', () => {
    expect(failuresIn({ status: 'failed', assertionResults: [] })).toEqual(['test/a.test.ts\n  '])
  })

  it('a long message is cut', () => {
    const message = Array.from({ length: 100 }, (_, at) => `line ${at}`).join('\n')
    expect(failuresIn({ status: 'failed', message }).join()).not.toContain('line 20')
  })

  it('skipped and unwritten tests of all runs are counted', () => {
    const skipping = { ...report(), numPendingTests: 2, numTodoTests: 1 }
    expect(sumResults([skipping, report(), skipping])).toMatchObject({ skipped: 6 })
  })

  it.each(['', '{}', '{"success":true}'])('%j is no report', (json) => {
    expect(() => readReport(json)).toThrow()
  })
})
