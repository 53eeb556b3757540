import type { Command } from 'commander'
import { openLog } from '../../observability/log.ts'
import { requireWebhookSecrets } from '../../webhooks/management/endpoint-secrets.ts'
import type { CommandContext } from '../command-context.ts'
import { runUntilSignal } from '../signals.ts'
import type { WithServices } from '../with-services.ts'
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
    .action(async () => {
      const { deliverWithOperations } = await import('./standalone-dispatcher.ts')
      await withServices(
        async (services, config) => {
          requireWebhookSecrets(services.webhookSecrets)
          const logger = openLog(config, context.stderr)
          warnOfRetention(config, logger)
          const work = (signal: AbortSignal) =>
            deliverWithOperations(services, config, logger, signal)
          await runUntilSignal(work, logger, context)
        },
        { role: 'server' },
      )
    })
}
