import { type Command, Option } from 'commander'
import { auditEntryJson } from '../management/audit/audit-json.ts'
import { account, integer } from './arguments.ts'
import type { CommandContext } from './command-context.ts'
import { type JsonFlag, printResult } from './output.ts'
import type { WithKeyManagement } from './with-services.ts'

interface ListOptions extends JsonFlag {
  account?: string
  limit: number
}

const DEFAULT_ENTRIES = 50
/** The largest result of one search in OpenSearch; the API has pages. */
const MAX_ENTRIES = 10_000

/** `audit list`: the newest changes first. */
export function addAudit(audit: Command, withKeys: WithKeyManagement, context: CommandContext) {
  audit
    .command('list')
    .description('list changes of keys, accounts, webhooks, sandboxes and sessions, newest first')
    .option('--account <id>', 'only of this account', account)
    .addOption(
      new Option('--limit <n>', 'how many of them')
        .argParser(integer(1, MAX_ENTRIES))
        .default(DEFAULT_ENTRIES),
    )
    .option('--json', 'print them as JSON')
    .action(async ({ account: accountId, limit, json }: ListOptions) =>
      withKeys(async ({ audit: log }) => {
        const filter = accountId === undefined ? {} : { accountId }
        const entries = await log.list({ ...filter, limit, after: null })
        const rows = entries.map(auditEntryJson)
        const columns = rows.map(({ object: _, ...row }) => row)
        printResult(json, rows, columns, context)
      }),
    )
}
