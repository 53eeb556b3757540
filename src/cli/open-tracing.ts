import type { Logger } from 'pino'
import { readCaFile, readKeyFile } from '../config/ca-file.ts'
import type { Config } from '../config/config.ts'
import type { Tracing } from '../observability/tracing/tracing.ts'

/**
 * Opens tracing as configured. Returns `null`, without loading the SDK, when it is off.
 * @throws Error with the setting of a file that the exporter could not use
 */
export async function openTracing(
  { tracing: settings }: Pick<Config, 'tracing'>,
  logger: Logger,
): Promise<Tracing | null> {
  if (settings === undefined) return null
  const { certificate, clientCertificate, clientKey } = settings.files
  for (const { setting, path } of [certificate, clientCertificate]) readCaFile(setting, path)
  readKeyFile(clientKey.setting, clientKey.path)
  const { openOpenTelemetry } = await import('../observability/tracing/opentelemetry.ts')
  return openOpenTelemetry(settings, {
    onOutage: (reason) => logger.warn({ reason }, 'trace export is failing'),
    onRecovered: () => logger.info('trace export recovered'),
  })
}
