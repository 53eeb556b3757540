import { describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../../../src/lib/durations.ts'
import {
  createRetrySchedule,
  DEFAULT_RETRY_DELAYS_MS,
} from '../../../../src/webhooks/deliveries/retry-schedule.ts'

const middle = () => 0.5

describe('the retry schedule', () => {
  it('the default makes 16 attempts in 72 hours', () => {
    const schedule = createRetrySchedule()
    expect(DEFAULT_RETRY_DELAYS_MS).toHaveLength(16)
    expect(schedule.totalMs).toBe(72 * HOUR_MS)
    expect(schedule.firstDelayMs).toBe(0)
  })

  it('the delay before each attempt is that of its position', () => {
    const { nextDelayMs } = createRetrySchedule(undefined, middle)
    const delays = DEFAULT_RETRY_DELAYS_MS.map((_delay, step) => nextDelayMs(step, null))
    expect(delays).toEqual(DEFAULT_RETRY_DELAYS_MS)
  })

  it('no delay is left after the last attempt', () => {
    const { nextDelayMs } = createRetrySchedule([0, 5_000], middle)
    expect(nextDelayMs(2, null)).toBeNull()
    expect(nextDelayMs(2, HOUR_MS)).toBeNull()
  })

  it.each([
    ['a quarter less', 0, 7_500],
    ['unchanged', 0.5, 10_000],
    ['almost a quarter more', 0.999_999, 12_500],
  ])('the jitter makes a delay at most a quarter shorter or longer: %s', (_name, random, ms) => {
    expect(createRetrySchedule([0, 10_000], () => random).nextDelayMs(1, null)).toBe(ms)
  })

  it('the first delay has no jitter, which would reorder the events of an order', () => {
    expect(createRetrySchedule([10_000], () => 0).firstDelayMs).toBe(10_000)
  })

  it.each([
    ['of the jitter', [0, 10 * HOUR_MS, HOUR_MS], 12.5 * HOUR_MS],
    ['of Retry-After', [0, 5_000], HOUR_MS],
  ])('the longest delay is that %s', (_name, delays, ms) => {
    expect(createRetrySchedule(delays).longestDelayMs).toBe(ms)
  })

  it.each([
    ['shorter than the delay', 4_000, 5_000],
    ['longer than the delay', 60_000, 60_000],
    ['of an hour', HOUR_MS, HOUR_MS],
    ['of more than an hour, which counts as one', 5 * HOUR_MS, HOUR_MS],
  ])('Retry-After raises a delay: %s', (_name, retryAfterMs, ms) => {
    expect(createRetrySchedule([0, 5_000], middle).nextDelayMs(1, retryAfterMs)).toBe(ms)
  })
})
