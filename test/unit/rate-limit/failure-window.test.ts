import { describe, expect, it } from 'vitest'
import {
  blockedSeconds,
  type FailureWindow,
  withFailure,
} from '../../../src/rate-limit/failed-authentications.ts'

const NOW = 1_000_000
const endsIn = (ms: number, failures = 30): FailureWindow => ({ failures, endsAtMs: NOW + ms })

function windowAfter(failures: number): FailureWindow | undefined {
  let window: FailureWindow | undefined
  for (let n = 0; n < failures; n++) window = withFailure(window, NOW + n)
  return window
}

describe('a window of failed authentications', () => {
  it('starts at the first failure and lasts 60 seconds', () => {
    expect(withFailure(undefined, NOW)).toEqual({ failures: 1, endsAtMs: NOW + 60_000 })
  })

  it('counts the next failure without extending the window', () => {
    expect(withFailure(windowAfter(1), NOW + 59_999)).toEqual({
      failures: 2,
      endsAtMs: NOW + 60_000,
    })
  })

  it.each([60_000, 60_001, 600_000])('restarts at a failure after %d ms', (laterMs) => {
    expect(withFailure(windowAfter(30), NOW + laterMs)).toEqual({
      failures: 1,
      endsAtMs: NOW + laterMs + 60_000,
    })
  })

  it('a window of failed authentications does not modify the previous window', () => {
    const window = endsIn(60_000, 1)
    withFailure(window, NOW)
    expect(window.failures).toBe(1)
  })
})

describe('blockedSeconds', () => {
  it.each([
    ['no failure', 0, 0],
    ['one failure', 1, 0],
    ['29 failures', 29, 0],
    ['30 failures', 30, 60],
    ['31 failures', 31, 60],
  ])('blockedSeconds returns the remaining block after %s', (_name, failures, seconds) => {
    expect(blockedSeconds(windowAfter(failures), NOW)).toBe(seconds)
  })

  it.each([
    [60_000, 60],
    [59_999, 60],
    [59_001, 60],
    [59_000, 59],
    [1001, 2],
    [1000, 1],
    [999, 1],
    [1, 1],
    [0.25, 1],
    [0, 0],
    [-1, 0],
  ])('blockedSeconds with %d ms left in the window returns %d', (ms, seconds) => {
    expect(blockedSeconds(endsIn(ms), NOW)).toBe(seconds)
  })
})
