import type { Command } from 'commander'
import { OPERATOR, operatorSigners } from '../../webhooks/dispatcher/health/operator-notices.ts'
import { requireWebhookSecrets } from '../../webhooks/management/endpoint-secrets.ts'
import { deriveSecret } from '../../webhooks/sending/signing-secret.ts'
import type { CommandContext } from '../command-context.ts'
import { type JsonFlag, printJson } from '../output.ts'
import type { WithServices } from '../with-services.ts'

/** `webhooks operator-secret`. */
export function addOperatorSecret(
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
