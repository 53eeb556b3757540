import { collectDefaultMetrics, Histogram, type Registry } from 'prom-client'
import { type Clock, monotonicClock } from '../../lib/clock.ts'
import { DELAY_BUCKETS } from './buckets.ts'

/** Sampling interval of the event-loop delay. */
const SAMPLE_INTERVAL_MS = 20

/** Registers CPU, memory and event-loop metrics. Call it once per process. */
export function registerProcessMetrics({ registry }: { registry: Registry }): void {
  registerDefaultMetrics(registry)
  registerEventLoopDelay(registry)
}

/** The default metrics without the lag of the event loop. */
export function registerDefaultMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry })
  for (const { name } of registry.getMetricsAsArray()) {
    if (name.startsWith('nodejs_eventloop_lag')) registry.removeSingleMetric(name)
  }
}

/**
 * Registers the delay of a timer, which requests experience too. It replaces the lag of the default
 * metrics, which includes its own 10 ms interval and resets at every scrape.
 */
export function registerEventLoopDelay(
  registry: Registry,
  clock: Clock = monotonicClock,
): NodeJS.Timeout {
  const delay = new Histogram({
    name: 'nodejs_eventloop_delay_seconds',
    help: 'Seconds by which timers of the event loop are late.',
    buckets: DELAY_BUCKETS,
    registers: [registry],
  })
  let dueAt = clock() + SAMPLE_INTERVAL_MS
  const sample = () => {
    const now = clock()
    // Counts the missed samples too: a loop blocked for 10% of the time yields 10% late samples.
    for (let lateMs = now - dueAt; lateMs >= SAMPLE_INTERVAL_MS; lateMs -= SAMPLE_INTERVAL_MS) {
      delay.observe(lateMs / 1000)
    }
    delay.observe(Math.max(0, (now - dueAt) % SAMPLE_INTERVAL_MS) / 1000)
    dueAt = now + SAMPLE_INTERVAL_MS
  }
  return setInterval(sample, SAMPLE_INTERVAL_MS).unref()
}
