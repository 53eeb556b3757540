import type { Command } from 'commander'
import { inactiveReason } from '../auth/inactive-reason.ts'
import { wallClock } from '../lib/clock.ts'
import { CLI_ACTOR } from '../management/audit/audit-entry.ts'
import { account } from './arguments.ts'
import type { CommandContext } from './command-context.ts'
import { type JsonFlag, printResult } from './output.ts'
import type { WithKeyManagement } from './with-services.ts'

/** `accounts block | unblock | show`: a blocked account's keys get `403 account_blocked`. */
export function addAccounts(
  accounts: Command,
  withKeys: WithKeyManagement,
  context: Pick<CommandContext, 'stdout' | 'stderr'>,
): void {
  const { stderr } = context

  for (const [name, blocked] of [
    ['block', true],
    ['unblock', false],
  ] as const) {
    accounts
      .command(name)
      .description(`${name} an account; takes effect within 5 seconds`)
      .argument('<account>', 'its id', account)
      .action(async (accountId: string) =>
        withKeys(async ({ keys }) => {
          await keys.setAccountBlocked(CLI_ACTOR, accountId, blocked)
          stderr.write(`${accountId} is ${name}ed\n`)
          // The platform has the list of accounts, so a wrong id is no error. Nor is a failed read.
          const records = await keys.list(accountId).catch(() => null)
          if (records?.length === 0) {
            stderr.write(`${accountId} has no key: check that the id is right\n`)
          }
        }),
      )
  }

  accounts
    .command('show')
    .description('print whether an account is blocked, and the number of its active keys')
    .argument('<account>', 'its id', account)
    .option('--json', 'print it as JSON')
    .action(async (accountId: string, { json }: JsonFlag) =>
      withKeys(async ({ keys }) => {
        const records = await keys.list(accountId)
        const active = records.filter((key) => inactiveReason(key, wallClock()) === undefined)
        const isBlocked = await keys.isAccountBlocked(accountId)
        const shown = { account: accountId, blocked: isBlocked, active_keys: active.length }
        printResult(json, shown, [shown], context)
      }),
    )
}
