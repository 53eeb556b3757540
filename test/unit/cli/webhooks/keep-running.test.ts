import { expect, it } from 'vitest'
import { keepRunning } from '../../../../src/cli/webhooks/keep-running.ts'

const backoff = { firstMs: 1, longestMs: 4 }

function runFailing(times: number) {
  const stopping = new AbortController()
  const time = { nowMs: 0 }
  const failures: [message: string, retryMs: number][] = []
  let runs = 0
  const kept = keepRunning(
    async () => {
      runs += 1
      if (runs <= times) throw new Error(`failure ${runs}`)
    },
    {
      signal: stopping.signal,
      monotonic: () => time.nowMs,
      backoff,
      onFailure: (error, retryMs) => failures.push([String(error), retryMs]),
    },
  )
  return { ...kept, stopping, time, failures, runs: () => runs }
}

it('a run that fails starts again, after longer and longer pauses', async () => {
  const { ended, runs, failures } = runFailing(4)
  await ended
  expect(runs()).toBe(5)
  expect(failures).toEqual([
    ['Error: failure 1', 1],
    ['Error: failure 2', 2],
    ['Error: failure 3', 4],
    ['Error: failure 4', 4],
  ])
})

it('a failure is a warning for five minutes', async () => {
  const { ended, isDegraded, time } = runFailing(1)
  await ended
  time.nowMs = 299_999
  expect(isDegraded()).toBe(true)
  time.nowMs = 300_000
  expect(isDegraded()).toBe(false)
})

it('a run without a failure is not degraded', async () => {
  const { ended, isDegraded } = runFailing(0)
  await ended
  expect(isDegraded()).toBe(false)
})

it('a stop ends the repetition', async () => {
  const { ended, stopping, runs } = runFailing(Number.POSITIVE_INFINITY)
  stopping.abort()
  await ended
  expect(runs()).toBe(1)
})
