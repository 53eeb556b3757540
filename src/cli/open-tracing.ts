import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import type { Tracing } from '../observability/tracing/tracing.ts'

/** Opens tracing as configured. Returns `null`, without loading the SDK, when it is off. */
export async function openTracing(
  { tracing: settings }: Pick<Config, 'tracing'>,
  logger: Logger,
): Promise<Tracing | null> {
  if (settings === undefined) return null
  const { openOpenTelemetry } = await import('../observability/tracing/opentelemetry.ts')
  return openOpenTelemetry(settings, {
    onOutage: (reason) => logger.warn({ reason }, 'trace export is failing'),
    onRecovered: () => logger.info('trace export recovered'),
  })
}
