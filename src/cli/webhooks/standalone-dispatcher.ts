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
import { registerProcessMetrics } from '../../observability/metrics/process.ts'
import { createWebhookMetrics } from '../../observability/metrics/webhooks.ts'
import type { Services } from '../../services.ts'
import { openTracing } from '../open-tracing.ts'
import { runDispatcher } from './dispatcher-process.ts'

/** Delivers until `signal` aborts; the operations port and the log report its state. */
export async function deliverWithOperations(
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
