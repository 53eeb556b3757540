import type { Logger } from 'pino'
import type { Config } from '../../config/config.ts'
import { DAY_MS } from '../../lib/durations.ts'

/** Warns when deliveries are kept for longer than `WEBHOOK_RETENTION_DAYS`. */
export function warnOfRetention(
  { webhooks: { configuredRetentionMs, retentionMs } }: Pick<Config, 'webhooks'>,
  logger: Pick<Logger, 'warn'>,
): void {
  if (configuredRetentionMs === retentionMs) return
  const [configured, kept] = [configuredRetentionMs / DAY_MS, retentionMs / DAY_MS]
  logger.warn(
    `WEBHOOK_RETENTION_DAYS is ${configured}, and the retry schedule needs ${kept}: webhook deliveries are kept for ${kept} days`,
  )
}
