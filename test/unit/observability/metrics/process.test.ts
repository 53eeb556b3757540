import { Registry } from 'prom-client'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import {
  registerDefaultMetrics,
  registerEventLoopDelay,
} from '../../../../src/observability/metrics/process.ts'

let registry: Registry
let nowMs: number
let timer: NodeJS.Timeout
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  registry = new Registry()
  nowMs = 1_000
  registerDefaultMetrics(registry)
  timer = registerEventLoopDelay(registry, () => nowMs)
})
afterEach(() => {
  clearInterval(timer)
  vi.useRealTimers()
})

/** Delays the next sample of the loop. */
function lookAfter(delayMs: number) {
  nowMs += 20 + delayMs
  vi.advanceTimersByTime(20)
}
const readMetric = async (line: string) =>
  Number(
    (await registry.metrics())
      .split('\n')
      .find((one) => one.startsWith(`${line} `))
      ?.split(' ')[1],
  )

it('an idle event loop has no delay', async () => {
  lookAfter(0)
  lookAfter(0)
  expect(await readMetric('nodejs_eventloop_delay_seconds_bucket{le="0.001"}')).toBe(2)
  expect(await readMetric('nodejs_eventloop_delay_seconds_sum')).toBe(0)
})

it('a blocked event loop counts each missed sample, independent of earlier scrapes', async () => {
  lookAfter(200)
  await registry.metrics()
  lookAfter(0)
  // 200, 180, 160 … 20 and 0 milliseconds, for the missed samples; then 0.
  expect(await readMetric('nodejs_eventloop_delay_seconds_count')).toBe(12)
  expect(await readMetric('nodejs_eventloop_delay_seconds_sum')).toBeCloseTo(1.1)
  expect(await readMetric('nodejs_eventloop_delay_seconds_bucket{le="0.1"}')).toBe(7)
  expect(await readMetric('nodejs_eventloop_delay_seconds_bucket{le="0.25"}')).toBe(12)
})

it('the delay replaces the event-loop lag of the default metrics', async () => {
  expect(await registry.metrics()).not.toContain('nodejs_eventloop_lag')
})
