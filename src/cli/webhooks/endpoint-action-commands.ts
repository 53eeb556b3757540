import { type Command, Option } from 'commander'
import { formatInstant } from '../../lib/instant.ts'
import { CLI_ACTOR } from '../../management/audit/audit-entry.ts'
import {
  enabledEndpointJson,
  endpointJson,
  rolledSecretJson,
} from '../../webhooks/management/webhook-json.ts'
import { duration } from '../arguments.ts'
import type { CommandContext } from '../command-context.ts'
import { type JsonFlag, jsonText, printJson, printSecret } from '../output.ts'
import type { WithWebhooks } from './with-webhooks.ts'

const ENDED_EARLIER_ONE =
  'warning: the secret before the old one, which an earlier roll had kept valid, ended now: a receiver that has it rejects all\n'

/** `webhooks enable | disable | delete | roll-secret`. */
export function addEndpointActionCommands(
  webhooks: Command,
  withWebhooks: WithWebhooks,
  context: CommandContext,
): void {
  const { stderr } = context
  const command = (name: string, description: string) =>
    webhooks
      .command(name)
      .description(description)
      .argument('<id>', 'its id, as "webhooks list" prints it')
      .option('--json', 'print it as JSON')

  command(
    'enable',
    'enable an endpoint, and send what was held meanwhile, in order; also closes its circuit breaker',
  ).action(async (id: string, { json }: JsonFlag) =>
    withWebhooks(async ({ enableEndpoint }) => {
      const enabled = await enableEndpoint(CLI_ACTOR, { id })
      const { released, failedSince } = enabled
      stderr.write(`${id} is enabled; held deliveries that are due now: ${released}\n`)
      if (failedSince !== null) {
        const replay = `webhooks replay ${id} --since ${formatInstant(failedSince)} --failed`
        stderr.write(`to send again what failed: ${replay}\n`)
      }
      if (json) printJson(enabledEndpointJson(enabled), context)
    }),
  )

  command('disable', 'disable an endpoint; new events are held for 7 days').action(
    async (id: string, { json }: JsonFlag) =>
      withWebhooks(async ({ disableEndpoint }) => {
        const endpoint = await disableEndpoint(CLI_ACTOR, { id })
        stderr.write(`${id} is disabled (${endpoint.disabledReason})\n`)
        if (json) printJson(endpointJson(endpoint), context)
      }),
  )

  command('delete', 'delete an endpoint, and cancel what was not delivered').action(
    async (id: string, { json }: JsonFlag) =>
      withWebhooks(async ({ deleteEndpoint }) => {
        const endpoint = await deleteEndpoint(CLI_ACTOR, { id })
        stderr.write(`${id} is deleted\n`)
        if (json) printJson(endpointJson(endpoint), context)
      }),
  )

  command('roll-secret', 'print a new secret; the old one signs too during the overlap')
    .addOption(
      new Option('--overlap <span>', 'how long both secrets sign, at most 7d')
        .argParser(duration)
        .default(duration('24h'), '24h'),
    )
    .action(async (id: string, { overlap, json }: JsonFlag & { overlap: number }) =>
      withWebhooks(async ({ rollSecret }) => {
        const result = await rollSecret(CLI_ACTOR, { id }, overlap)
        if (result.hasEndedEarlierOne) stderr.write(ENDED_EARLIER_ONE)
        const rolled = rolledSecretJson(result)
        const nextStep = `the new secret was not printed: repeat "webhooks roll-secret ${id}", which ends the old secret at once`
        if (json) return printSecret(jsonText(rolled), nextStep, context)
        const { secret, old_secret_ends_at: endsAt } = rolled
        stderr.write(`the old secret of ${id} ends at ${endsAt}; the new one, shown this once:\n`)
        return printSecret(`${secret}\n`, nextStep, context)
      }),
    )
}
