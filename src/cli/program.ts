import { Command } from 'commander'
import { parseConfig } from '../config/config.ts'
import { addAccounts } from './accounts.ts'
import type { CommandContext } from './command-context.ts'
import { addIndex } from './indexer/commands.ts'
import { addKeys } from './keys.ts'
import { serve } from './serve.ts'
import { createWithKeys, createWithServices } from './with-services.ts'

/** Where a terminal does not say. */
const HELP_COLUMNS = 80

/** The command line: results on stdout, everything else on stderr; exit 0, 1 (failed) or 2 (usage). */
export function buildProgram(context: CommandContext): Command {
  const { env, stdout, stderr } = context
  const program = new Command('public-orders-api')
    .description('The public Orders API: serve it, issue its keys, feed its index')
    .showHelpAfterError('(--help tells what there is)')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      getOutHelpWidth: () => (stdout.isTTY ? stdout.columns : HELP_COLUMNS),
      getErrHelpWidth: () => (stderr.isTTY ? stderr.columns : HELP_COLUMNS),
    })

  const withServices = createWithServices(env)
  const withKeys = createWithKeys(env)

  program
    .command('serve', { isDefault: true })
    .description('serve the API on HOST:PORT')
    .option('--demo', 'load demo orders on the first start, and print a key and calls to try')
    .action(async ({ demo = false }: { demo?: boolean }) =>
      serve(parseConfig(env), { demo }, context),
    )

  addKeys(
    program.command('keys').description('issue, list, revoke and roll keys'),
    withKeys,
    context,
  )
  addAccounts(
    program.command('accounts').description('block and unblock accounts'),
    withKeys,
    context,
  )
  addIndex(program.command('index').description('feed the index of orders'), withServices, context)
  return program
}
