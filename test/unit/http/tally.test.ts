import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createTally } from '../../../src/http/tally.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

function tallied() {
  const told: object[] = []
  return { told, count: createTally((counts) => told.push(counts), 5_000) }
}

it('tells the first one at once', () => {
  const { told, count } = tallied()
  count('a')
  expect(told).toEqual([{ a: 1 }])
})

it('tells what comes after it together, however much it is', () => {
  const { told, count } = tallied()
  count('a')
  for (let n = 0; n < 1_000; n++) count('a')
  count('b')
  expect(told).toHaveLength(1)
  vi.advanceTimersByTime(5_000)
  expect(told.slice(1)).toEqual([{ a: 1_000, b: 1 }])
})

it('falls silent when nothing came for a while, and tells the next one at once again', () => {
  const { told, count } = tallied()
  count('a')
  vi.advanceTimersByTime(20_000)
  expect(told).toHaveLength(1)
  count('b')
  expect(told.slice(1)).toEqual([{ b: 1 }])
})
