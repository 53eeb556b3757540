import type { Command } from 'commander'
import { OPERATOR, operatorSigners } from '../../webhooks/dispatcher/health/operator-notices.ts'
import { requireWebhookSecrets } from '../../webhooks/management/endpoint-secrets.ts'
import { deriveSecret } from '../../webhooks/sending/signing-secret.ts'
import type { CommandContext } from '../command-context.ts'
import { type JsonFlag, printJson } from '../output.ts'
import type { WithServices } from '../with-services.ts'
import { addDeliver } from './deliver.ts'
import { addDeliveryCommands } from './delivery-commands.ts'
import { addEndpointActionCommands } from './endpoint-action-commands.ts'
import { addEndpointCommands } from './endpoint-commands.ts'
import { addWebhookStatus } from './status.ts'
import { createWithWebhooks } from './with-webhooks.ts'

/** `webhooks …`. */
export function addWebhooks(
  webhooks: Command,
  withServices: WithServices,
  context: CommandContext,
): void {
  const withWebhooks = createWithWebhooks(withServices)
  for (const add of [
    addEndpointCommands,
    addEndpointActionCommands,
    addDeliveryCommands,
    addWebhookStatus,
  ]) {
    add(webhooks, withWebhooks, context)
  }
  addDeliver(webhooks, withServices, context)
  addOperatorSecret(webhooks, withServices, context)
}

/** `webhooks operator-secret`. */
function addOperatorSecret(
  webhooks: Command,
  withServices: WithServices,
  context: CommandContext,
): void {
  webhooks
    .command('operator-secret')
    .description('print the secret that signs the notices to OPERATOR_WEBHOOK_URL')
    .option('--json', 'print it as JSON')
    .action(async ({ json }: JsonFlag) =>
      withServices(async ({ webhookSecrets }) => {
        const secrets = requireWebhookSecrets(webhookSecrets)
        const secret = deriveSecret(secrets, OPERATOR, operatorSigners(secrets).secret)
        if (json) printJson({ secret }, context)
        else context.stdout.write(`${secret}\n`)
      }),
    )
}
