import { type Command, Option } from 'commander'
import { isSandbox, liveAccountOf } from '../../auth/account-ids.ts'
import { wallClock } from '../../lib/clock.ts'
import { formatInstant } from '../../lib/instant.ts'
import { CLI_ACTOR } from '../../management/audit/audit-entry.ts'
import { type Endpoint, payloadKinds } from '../../webhooks/endpoints/endpoint.ts'
import type { CreatedEndpoint } from '../../webhooks/management/endpoint-operations.ts'
import { ALL_EVENTS, type EndpointSettings } from '../../webhooks/management/endpoint-settings.ts'
import { createdEndpointJson, endpointJson } from '../../webhooks/management/webhook-json.ts'
import { account, list } from '../arguments.ts'
import type { CommandContext } from '../command-context.ts'
import { type JsonFlag, jsonText, printResult, printSecret } from '../output.ts'
import type { WithWebhooks } from './with-webhooks.ts'

type CreateFlags = JsonFlag & EndpointSettings & { account: string; test?: boolean }
type UpdateFlags = JsonFlag & Partial<EndpointSettings>

const URL_HELP = 'where events are sent: https, port 443 or 8443, a public address'
const EVENTS_HELP = 'event types separated by commas; * for all, also those added later'
const PAYLOAD_HELP = 'full sends the order, thin only its id'
const DESCRIPTION_HELP = "a label that identifies the endpoint; '' for none"

/** `webhooks create | list | show | update`. */
export function addEndpointCommands(
  webhooks: Command,
  withWebhooks: WithWebhooks,
  context: CommandContext,
): void {
  webhooks
    .command('create')
    .description('create an endpoint, and print its id and its secret, once')
    .requiredOption('--account <id>', 'the account whose events it receives', account)
    .requiredOption('--url <url>', URL_HELP)
    .option('--test', "receive the events of the account's sandbox, and no others")
    .addOption(
      new Option('--events <types>', EVENTS_HELP).argParser(list).default([ALL_EVENTS], ALL_EVENTS),
    )
    .addOption(new Option('--payload <kind>', PAYLOAD_HELP).choices(payloadKinds).default('full'))
    .option('--description <text>', DESCRIPTION_HELP, '')
    .option('--json', 'print it as JSON')
    .action(async ({ account: accountId, test: isTest = false, json, ...settings }: CreateFlags) =>
      withWebhooks(async ({ createEndpoint }) =>
        printCreated(
          await createEndpoint(CLI_ACTOR, { accountId, isTest, ...settings }),
          json,
          context,
        ),
      ),
    )

  webhooks
    .command('list')
    .description('list the endpoints of an account, or of all')
    .option(
      '--account <id>',
      'the account; without it all, with the entries of WEBHOOK_SECRETS that they use',
      account,
    )
    .option('--json', 'print them as JSON')
    .action(async ({ account: accountId, json }: JsonFlag & { account?: string }) =>
      withWebhooks(async ({ listEndpoints, listAllEndpoints }) => {
        if (accountId === undefined) {
          const all = (await listAllEndpoints()).map(endpointWithSecretEntries)
          printResult(json, all, all, context)
          return
        }
        const endpoints = await listEndpoints(accountId)
        printResult(json, endpoints.map(endpointJson), endpoints.map(endpointRow), context)
      }),
    )

  webhooks
    .command('show')
    .description('print an endpoint, without its secret')
    .argument('<id>', 'its id, as "webhooks list" prints it')
    .option('--json', 'print it as JSON')
    .action(async (id: string, { json }: JsonFlag) =>
      withWebhooks(async ({ showEndpoint }) =>
        printEndpoint(await showEndpoint({ id }), json, context),
      ),
    )

  const update = webhooks
    .command('update')
    .description('change an endpoint; takes effect within 5 seconds')
    .argument('<id>', 'its id, as "webhooks list" prints it')
    .option('--url <url>', URL_HELP)
    .option('--events <types>', EVENTS_HELP, list)
    .addOption(new Option('--payload <kind>', PAYLOAD_HELP).choices(payloadKinds))
    .option('--description <text>', DESCRIPTION_HELP)
    .option('--json', 'print it as JSON')
    .action(async (id: string, { json, ...settings }: UpdateFlags) => {
      if (Object.keys(settings).length === 0) {
        update.error('error: nothing to change: add --url, --events, --payload or --description')
      }
      await withWebhooks(async ({ updateEndpoint }) =>
        printEndpoint(await updateEndpoint(CLI_ACTOR, { id }, settings), json, context),
      )
    })
}

function printCreated(
  { endpoint, secret }: CreatedEndpoint,
  json: true | undefined,
  context: CommandContext,
): Promise<void> {
  const nextStep = `the secret of ${endpoint.id} was not printed: print another one with "webhooks roll-secret ${endpoint.id} --overlap 0s"`
  if (json) return printSecret(jsonText(createdEndpointJson(endpoint, secret)), nextStep, context)
  const startsAt = formatInstant(endpoint.startsAt)
  context.stderr.write(
    `events of ${accountName(endpoint)} from ${startsAt} on are sent to the endpoint; its id, and its secret, shown this once:\n`,
  )
  return printSecret(`${endpoint.id}\n${secret}\n`, nextStep, context)
}

function accountName({ accountId }: Endpoint): string {
  const live = liveAccountOf(accountId)
  return isSandbox(accountId) ? `the sandbox of ${live}` : live
}

/** Prints an endpoint to stdout. */
function printEndpoint(endpoint: Endpoint, json: true | undefined, context: CommandContext): void {
  printResult(json, endpointJson(endpoint), [endpointRow(endpoint)], context)
}

/** The old entry counts until its overlap ends: it signs too. */
function endpointWithSecretEntries(endpoint: Endpoint) {
  const { id, account_id, ...rest } = endpointJson(endpoint)
  const { secret, previousSecret } = endpoint
  const kids = [secret.kid]
  if (previousSecret !== null && previousSecret.endsAt > wallClock()) kids.push(previousSecret.kid)
  return { id, account_id, secret_entries: [...new Set(kids)], ...rest }
}

function endpointRow(endpoint: Endpoint) {
  const { account_id: _, ...row } = endpointJson(endpoint)
  return row
}
