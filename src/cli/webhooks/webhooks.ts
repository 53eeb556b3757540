import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import type { WithServices } from '../with-services.ts'
import { addDeliver } from './deliver.ts'
import { addDeliveryCommands } from './delivery-commands.ts'
import { addEndpointActionCommands } from './endpoint-action-commands.ts'
import { addEndpointCommands } from './endpoint-commands.ts'
import { addOperatorSecret } from './operator-secret.ts'
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
