import { expect, it } from 'vitest'
import { createSteadyClock } from '../../../src/lib/clock.ts'

/** A steady clock, and the clocks that it reads. */
function startClock() {
  const time = { epochMs: 1_000_000, monotonicMs: 50 }
  const steady = createSteadyClock(
    () => time.epochMs,
    () => time.monotonicMs,
  )
  function pass(ms: number): number {
    time.epochMs += ms
    time.monotonicMs += ms
    return steady()
  }
  return { time, steady, pass }
}

it('a steady clock is the wall clock', () => {
  const { steady, pass } = startClock()
  expect([steady(), pass(1), pass(9_999)]).toEqual([1_000_000, 1_000_001, 1_010_000])
})

it('a steady clock follows a wall clock that is set forward, or ran while the machine slept', () => {
  const { time, steady } = startClock()
  time.epochMs += 3_600_000
  expect(steady()).toBe(4_600_000)
})

it('a steady clock continues at nine tenths of the speed after the wall clock was set back', () => {
  const { time, steady, pass } = startClock()
  time.epochMs -= 5_000
  expect([steady(), pass(1_000), pass(10)]).toEqual([1_000_000, 1_000_900, 1_000_909])
})

it('a steady clock is the wall clock again once that has caught up', () => {
  const { time, pass } = startClock()
  time.epochMs -= 5_000
  expect([pass(49_990), pass(10), pass(10)]).toEqual([1_044_991, 1_045_000, 1_045_010])
})
