import type { Command } from 'commander'
import type { Logger } from 'pino'
import { Registry } from 'prom-client'
import type { Config } from '../../config/config.ts'
import { buildOperationsApp } from '../../http/operations/operations-app.ts'
import { listenOperations } from '../../http/operations/operations-port.ts'
import {
  createReadinessCheck,
  probeOrders,
  probeWebhooks,
} from '../../http/operations/readiness.ts'
import { openLog } from '../../observability/log.ts'
import { registerProcessMetrics } from '../../observability/metrics/process.ts'
import { createWebhookMetrics } from '../../observability/metrics/webhooks.ts'
import type { Services } from '../../services.ts'
import { requireWebhookSecrets } from '../../webhooks/management/endpoint-secrets.ts'
import type { CommandContext } from '../command-context.ts'
import { openTracing } from '../open-tracing.ts'
import { runUntilSignal } from '../signals.ts'
import type { WithServices } from '../with-services.ts'
import { runDispatcher } from './dispatcher-process.ts'
import { warnOfRetention } from './warn-of-retention.ts'

/** `webhooks deliver`. */
export function addDeliver(
  webhooks: Command,
  withServices: WithServices,
  context: CommandContext,
): void {
  webhooks
    .command('deliver')
    .description(
      'deliver webhooks continuously; on the embedded store, "serve" does, and this is a standby',
    )
    .action(() =>
      withServices(
        async (services, config) => {
          requireWebhookSecrets(services.webhookSecrets)
          const logger = openLog(config, context.stderr)
          warnOfRetention(config, logger)
          const work = (signal: AbortSignal) =>
            deliverWithOperations(services, config, logger, signal)
          await runUntilSignal(work, logger, context)
        },
        { role: 'server' },
      ),
    )
}

/** Delivers until `signal` aborts; the operations port and the log report its state. */
async function deliverWithOperations(
  services: Services,
  config: Config,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  const registry = new Registry()
  const metrics = createWebhookMetrics(registry, services.webhooks)
  registerProcessMetrics({ registry })
  const tracing = await openTracing(config, logger)
  const readiness = createReadinessCheck(
    {
      orders: () => probeOrders(services.orders),
      webhooks: () => probeWebhooks(services.webhooks),
    },
    'webhooks are delayed',
    logger,
  )
  const operations = buildOperationsApp(readiness, { registry })
  try {
    await listenOperations(operations, config, logger)
    await runDispatcher(config, { services, logger, metrics, tracing }, signal)
  } finally {
    await operations.close()
    await tracing?.close()
  }
}
