import { type Command, InvalidArgumentError, Option } from 'commander'
import { auditEntryJson } from '../management/audit/audit-json.ts'
import { account, positiveInteger } from './arguments.ts'
import type { CommandContext } from './command-context.ts'
import { printJson, printTable } from './output.ts'
import type { WithKeyManagement } from './with-services.ts'

interface ListOptions {
  account?: string
  limit: number
  json?: boolean
}

const DEFAULT_LIMIT = 50
/** The largest result of one search in OpenSearch; the API has pages. */
const MAX_LIMIT = 10_000
const EXPECTED_LIMIT = `Expected an integer from 1 to ${MAX_LIMIT}.`

/** `audit list`: the newest changes first. */
export function addAudit(audit: Command, withKeys: WithKeyManagement, context: CommandContext) {
  audit
    .command('list')
    .description('list the changes of keys, accounts, webhooks and sessions, newest first')
    .option('--account <id>', 'only of this account', account)
    .addOption(
      new Option('--limit <count>', 'how many of them')
        .argParser(parseLimit)
        .default(DEFAULT_LIMIT),
    )
    .option('--json', 'print them as JSON')
    .action(async ({ account: accountId, limit, json }: ListOptions) =>
      withKeys(async ({ audit: log }) => {
        const filter = accountId === undefined ? {} : { accountId }
        const entries = await log.list({ ...filter, limit, after: null })
        const rows = entries.map(auditEntryJson)
        if (json) printJson(rows, context)
        else
          printTable(
            rows.map(({ object: _, ...row }) => row),
            context,
          )
      }),
    )
}

function parseLimit(text: string): number {
  const limit = positiveInteger(EXPECTED_LIMIT)(text)
  if (limit <= MAX_LIMIT) return limit
  throw new InvalidArgumentError(EXPECTED_LIMIT)
}
