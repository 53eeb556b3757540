import { expect, it } from 'vitest'
import { createRestartBackoff } from '../../../../../src/cli/serve/workers/worker-pool.ts'

it('the restart delay grows with each short-lived worker', () => {
  const pauseMs = createRestartBackoff()
  expect([0, 10, 29_999, 0].map(pauseMs)).toEqual([100, 200, 400, 800])
})

it('the restart delay is at most 5 seconds', () => {
  const pauseMs = createRestartBackoff()
  for (let ended = 0; ended < 100; ended++) pauseMs(0)
  expect(pauseMs(0)).toBe(5_000)
})

it('an exit after half a minute resets the restart delay', () => {
  const pauseMs = createRestartBackoff()
  for (let ended = 0; ended < 5; ended++) pauseMs(0)
  expect(pauseMs(30_000)).toBe(100)
  expect(pauseMs(0)).toBe(200)
})
