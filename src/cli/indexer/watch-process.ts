import type { Logger } from 'pino'
import type { Config } from '../../config/config.ts'
import { buildOperationsApp } from '../../http/operations/operations-app.ts'
import { listenOperations } from '../../http/operations/operations-port.ts'
import { writeTimestampsAheadMs } from '../../indexing/consistency-check/index-inspection.ts'
import { type ChangeStream, totalCount } from '../../indexing/sources/change-stream.ts'
import { createLagTracker } from '../../indexing/sources/visibility-lag.ts'
import { watch } from '../../indexing/sources/watch.ts'
import { monotonicClock } from '../../lib/clock.ts'
import { createIndexingMetrics } from '../../observability/metrics/indexing.ts'
import { registerProcessMetrics } from '../../observability/metrics/process.ts'
import type { Services } from '../../services.ts'
import { monitorReadAlias } from './read-alias-monitor.ts'
import { createWatchLog } from './watch-log.ts'
import { createWatchReadiness } from './watch-readiness.ts'

/** Watches until `signal` aborts; the operations port and the log report its state. */
export async function watchWithOperations(
  { openIndex, orders, inspection }: Services,
  stream: ChangeStream,
  config: Config,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  const alias = monitorReadAlias(inspection, logger)
  const metrics = createIndexingMetrics(
    () => stream.backlog(),
    async () => writeTimestampsAheadMs(await inspection.writeTimestamps()),
    alias.isFaulty,
  )
  registerProcessMetrics(metrics)
  const lag = createLagTracker({
    latestWrite: (accountId) => orders.latestWrite(accountId),
    clock: monotonicClock,
    onLag: (seconds) => metrics.lagSeconds.observe(seconds),
  })
  const log = createWatchLog(logger)
  const readiness = createWatchReadiness({ orders, inspection }, stream, alias, logger)
  const operations = buildOperationsApp(readiness, metrics)
  try {
    await listenOperations(operations, config, logger)
    await watch({
      openIndex,
      stream,
      monotonic: monotonicClock,
      signal,
      events: {
        ...log,
        onWriter(isWriter) {
          metrics.isWriter.set(Number(isWriter))
          log.onWriter(isWriter)
        },
        onLost(entries) {
          metrics.lostChanges.inc(totalCount(entries))
          log.onLost(entries)
        },
        onBatch(counts) {
          for (const [outcome, count] of Object.entries(counts))
            metrics.changes.inc({ outcome }, count)
          log.onBatch(counts)
        },
        onWritten: lag.recordWrite,
      },
    })
  } finally {
    alias.stop()
    lag.stop()
    log.close()
    await operations.close()
    stream.close()
  }
}
