import { collectDefaultMetrics, Histogram, type Registry } from 'prom-client'
import { type Clock, monotonicClock } from '../../lib/clock.ts'

/** How often the event loop is looked at. */
const SAMPLE_INTERVAL_MS = 20

/** Seconds: from nothing to a loop that keeps every request waiting. */
const DELAY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]

/** Adds what the process itself tells: CPU, memory, event loop. Once a process. */
export function registerProcessMetrics({ registry }: { registry: Registry }): void {
  collectDefaultMetrics({ register: registry })
  registerEventLoopDelay(registry)
}

/**
 * Adds by how much a timer is late, which is what a request waits as well. In place of the lag among the
 * default metrics: that one has its own 10 ms of pause in it, and begins anew whenever anybody asks.
 */
export function registerEventLoopDelay(
  registry: Registry,
  clock: Clock = monotonicClock,
): NodeJS.Timeout {
  for (const { name } of registry.getMetricsAsArray()) {
    if (name.startsWith('nodejs_eventloop_lag')) registry.removeSingleMetric(name)
  }
  const delay = new Histogram({
    name: 'nodejs_eventloop_delay_seconds',
    help: 'Seconds by which a timer of the event loop is late.',
    buckets: DELAY_BUCKETS,
    registers: [registry],
  })
  let dueAt = clock() + SAMPLE_INTERVAL_MS
  const sample = () => {
    const now = clock()
    // The looks that were due meanwhile too: of a loop that is held up for a tenth of the time, a tenth of all.
    for (let lateMs = now - dueAt; lateMs >= SAMPLE_INTERVAL_MS; lateMs -= SAMPLE_INTERVAL_MS) {
      delay.observe(lateMs / 1000)
    }
    delay.observe(Math.max(0, (now - dueAt) % SAMPLE_INTERVAL_MS) / 1000)
    dueAt = now + SAMPLE_INTERVAL_MS
  }
  return setInterval(sample, SAMPLE_INTERVAL_MS).unref()
}
