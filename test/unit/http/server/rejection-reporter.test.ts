import { pino } from 'pino'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import {
  createClosedConnectionLog,
  createThrottledLog,
} from '../../../../src/http/server/rejection-reporter.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

function setUp() {
  const logged: object[] = []
  return { logged, count: createThrottledLog((counts) => logged.push(counts), 5_000) }
}

it('the throttled log writes the first event at once', () => {
  const { logged, count } = setUp()
  count('a')
  expect(logged).toEqual([{ a: 1 }])
})

it('the throttled log writes later events as one line per interval', () => {
  const { logged, count } = setUp()
  count('a')
  for (let n = 0; n < 1_000; n++) count('a')
  count('b')
  expect(logged).toHaveLength(1)
  vi.advanceTimersByTime(5_000)
  expect(logged.slice(1)).toEqual([{ a: 1_000, b: 1 }])
})

it('after an interval without events, the throttled log writes the next event at once', () => {
  const { logged, count } = setUp()
  count('a')
  vi.advanceTimersByTime(20_000)
  expect(logged).toHaveLength(1)
  count('b')
  expect(logged.slice(1)).toEqual([{ b: 1 }])
})

it('the log of closed connections counts them by reason', () => {
  const logged: object[] = []
  const logger = pino({}, { write: (line: string) => logged.push(JSON.parse(line)) })
  const count = createClosedConnectionLog(logger)
  count('too_many')
  expect(logged).toMatchObject([{ level: 40, closed: { too_many: 1 } }])
})
