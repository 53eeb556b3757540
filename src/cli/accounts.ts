import type { Command } from 'commander'
import { CLI_ACTOR } from '../management/audit/audit-entry.ts'
import { account } from './arguments.ts'
import type { CommandContext } from './command-context.ts'
import type { WithKeyManagement } from './with-services.ts'

/** `accounts block | unblock`: a blocked account's keys get `403 account_blocked`. */
export function addAccounts(
  accounts: Command,
  withKeys: WithKeyManagement,
  { stderr }: Pick<CommandContext, 'stderr'>,
): void {
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
        }),
      )
  }
}
