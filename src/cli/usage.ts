import { type Command, Option } from 'commander'
import { accountUsage } from '../management/usage/account-usage.ts'
import { dayBefore, dayOf } from '../management/usage/usage-day.ts'
import { usageJson } from '../management/usage/usage-json.ts'
import { account, day } from './arguments.ts'
import type { CommandContext } from './command-context.ts'
import { type JsonFlag, printResult } from './output.ts'
import type { WithKeyManagement } from './with-services.ts'

interface UsageOptions extends JsonFlag {
  account: string
  from: string
  to: string
}

/** The last 30 days, today included. */
const DEFAULT_DAYS = 30

/** `usage`: the requests of an account's keys by day, as of the last flush of each server. */
export function addUsage(
  usage: Command,
  withKeys: WithKeyManagement,
  context: CommandContext,
): void {
  const nowMs = Date.now()
  usage
    .requiredOption('--account <id>', 'the account', account)
    .addOption(
      new Option('--from <day>', 'the first UTC day')
        .argParser(day)
        .default(dayBefore(nowMs, DEFAULT_DAYS - 1)),
    )
    .addOption(new Option('--to <day>', 'the last UTC day').argParser(day).default(dayOf(nowMs)))
    .option('--json', 'print it as JSON')
    .action(async ({ account: accountId, from: fromDay, to: toDay, json }: UsageOptions) => {
      if (fromDay > toDay) usage.error(`error: --from ${fromDay} is after --to ${toDay}`)
      await withKeys(async ({ stores }) => {
        const report = usageJson(await accountUsage(stores.usage, { accountId, fromDay, toDay }))
        printResult(json, report, report.data.map(toRow), context)
      })
    })
}

type UsageRow = ReturnType<typeof usageJson>['data'][number]

function toRow({ by_status: byStatus, ...row }: UsageRow) {
  const statuses = Object.entries(byStatus).map(([status, count]) => `${status}:${count}`)
  return { ...row, by_status: statuses }
}
