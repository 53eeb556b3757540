import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Config } from '../../config/config.ts'
import type { CheckState } from '../../http/operations/readiness.ts'
import { monotonicClock } from '../../lib/clock.ts'
import { createWebhookMetrics } from '../../observability/metrics/webhooks.ts'
import type { Tracing } from '../../observability/tracing/tracing.ts'
import type { Services } from '../../services.ts'
import { runDispatcher } from './dispatcher-process.ts'
import { keepRunning } from './keep-running.ts'
import { warnOfRetention } from './warn-of-retention.ts'

export interface EmbeddedDispatcherOptions {
  services: Services
  logger: Logger
  registry: Registry
  tracing: Tracing | null
}

/** Started by `serve` on the embedded store. */
export interface EmbeddedDispatcher {
  /** Finishes the requests in flight. Idempotent. */
  stop(): Promise<void>
  /**
   * Its part of the health response: a warning after a failure and while it waits for a store, and
   * nothing with OpenSearch.
   */
  checks(): Record<string, CheckState>
}

/**
 * Delivers webhooks inside the API's process. With OpenSearch, `webhooks deliver` does, and this
 * starts nothing. After a failure it starts again, and the API continues.
 */
export function startEmbeddedDispatcher(
  config: Config,
  { services, logger, registry, tracing }: EmbeddedDispatcherOptions,
): EmbeddedDispatcher {
  if (config.opensearchUrls !== undefined) return { stop: async () => {}, checks: () => ({}) }
  warnOfRetention(config, logger)
  const metrics = createWebhookMetrics(registry, services.webhooks)
  const stopping = new AbortController()
  let isWaiting = false
  const onWaiting = (isNowWaiting: boolean) => {
    isWaiting = isNowWaiting
  }
  const dependencies = { services, logger, metrics, tracing, onWaiting }
  const { signal } = stopping
  const run = () => {
    isWaiting = false // The run before may have failed meanwhile.
    return runDispatcher(config, dependencies, signal)
  }
  const running = keepRunning(run, {
    signal,
    monotonic: monotonicClock,
    onFailure: (err, retryMs) =>
      logger.error({ err, retry_ms: retryMs }, 'webhooks are not delivered: the dispatcher failed'),
  })
  return {
    async stop() {
      stopping.abort()
      await running.ended
    },
    checks: () => ({ webhooks: running.isDegraded() || isWaiting ? 'degraded' : 'ok' }),
  }
}
