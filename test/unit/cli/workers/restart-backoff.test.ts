import { expect, it } from 'vitest'
import { createRestartBackoff } from '../../../../src/cli/workers/worker-pool.ts'

it('waits longer each time a worker ends soon after it began', () => {
  const pauseMs = createRestartBackoff()
  expect([0, 10, 29_999, 0].map(pauseMs)).toEqual([100, 200, 400, 800])
})

it('waits for 5 seconds at most', () => {
  const pauseMs = createRestartBackoff()
  for (let ended = 0; ended < 100; ended++) pauseMs(0)
  expect(pauseMs(0)).toBe(5_000)
})

it('takes an end after half a minute for the first', () => {
  const pauseMs = createRestartBackoff()
  for (let ended = 0; ended < 5; ended++) pauseMs(0)
  expect(pauseMs(30_000)).toBe(100)
  expect(pauseMs(0)).toBe(200)
})
