import { Command, CommanderError } from 'commander'
import { parseConfig } from '../config/config.ts'
import { DomainError } from '../lib/errors/domain-error.ts'
import { errorText } from '../lib/errors/error-text.ts'
import { addAccounts } from './accounts.ts'
import { addAudit } from './audit.ts'
import type { CommandContext, ProgramIo } from './command-context.ts'
import { addCheck } from './indexer/check.ts'
import { addInit } from './indexer/init.ts'
import { addLoad } from './indexer/load.ts'
import { addReindex } from './indexer/reindex.ts'
import { addStatus } from './indexer/status.ts'
import { addWatch } from './indexer/watch.ts'
import { addKeys } from './keys.ts'
import { addSandbox } from './sandbox.ts'
import { addUsage } from './usage.ts'
import { addWebhooks } from './webhooks/webhooks.ts'
import { createWithKeyManagement, createWithServices } from './with-services.ts'

const USAGE_EXIT_CODE = 2
const FAILURE_EXIT_CODE = 1
/** Help width without a terminal. */
const HELP_COLUMNS = 80
const HELP_OPTIONS = ['-h', '--help']

/** Runs one command line. Resolves with the exit code once the command has ended. */
export async function runProgram(argv: readonly string[], io: ProgramIo): Promise<number> {
  let exitCode = 0
  const context = {
    ...io,
    setFailed() {
      exitCode = FAILURE_EXIT_CODE
    },
  }
  try {
    await buildProgram(context).parseAsync(withCommand(argv), { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_EXIT_CODE
    io.stderr.write(`${errorText(error)}\n`)
    return isInvalidInput(error) ? USAGE_EXIT_CODE : FAILURE_EXIT_CODE
  }
  return exitCode
}

/**
 * Without a command, `serve` runs. A default command of commander would receive an unknown command
 * as its argument. It would reject the options of that command instead of its name.
 */
function withCommand(argv: readonly string[]): readonly string[] {
  const [first = '--'] = argv
  return first.startsWith('-') && !HELP_OPTIONS.includes(first) ? ['serve', ...argv] : argv
}

/** Invalid values that only a running command can recognise. */
function isInvalidInput(error: unknown): boolean {
  return error instanceof DomainError && error.kind === 'invalid'
}

/**
 * Defines the commands: results on stdout, all else on stderr; exit 0, 1 (failed) or 2 (usage).
 * Those with a server import it when they run, because it has most of the modules.
 */
function buildProgram(context: CommandContext): Command {
  const { env, stdout, stderr } = context
  const program = new Command('public-orders-api')
    .description('The public Orders API: serve requests, manage keys and webhooks, write the index')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
      getOutHelpWidth: () => (stdout.isTTY ? stdout.columns : HELP_COLUMNS),
      getErrHelpWidth: () => (stderr.isTTY ? stderr.columns : HELP_COLUMNS),
    })

  const withServices = createWithServices(context)
  const withKeys = createWithKeyManagement(context)

  program
    .command('serve')
    .description('serve the API on HOST:PORT; also without a command')
    .option('--demo', 'load demo orders on the first start, and print a key and example calls')
    .action(async ({ demo = false }: { demo?: boolean }) => {
      const config = parseConfig(env)
      const { serve } = await import('./serve/serve.ts')
      await serve(config, { demo }, context)
    })

  addKeys(
    program.command('keys').description('issue, list, revoke and roll keys'),
    withKeys,
    context,
  )
  addAccounts(
    program.command('accounts').description('block, unblock and show accounts'),
    withKeys,
    context,
  )
  addUsage(
    program.command('usage').description('report the requests of an account by day and key'),
    withKeys,
    context,
  )
  addAudit(program.command('audit').description('list recorded changes'), withKeys, context)
  addWebhooks(
    program.command('webhooks').description('manage webhook endpoints and deliveries'),
    withServices,
    context,
  )
  addSandbox(
    program.command('sandbox').description('create orders in a sandbox, and move them on'),
    withServices,
    context,
  )

  const index = program.command('index').description('write, check and rebuild the index of orders')
  for (const add of [addInit, addLoad, addReindex, addWatch, addCheck, addStatus]) {
    add(index, withServices, context)
  }
  showExpectedAfterError(program)
  return program
}

/** After an error of a command line, each command prints what it expects. */
function showExpectedAfterError(command: Command): void {
  const names = command.commands.map((subcommand) => subcommand.name())
  const usage = `usage: ${command.createHelp().commandUsage(command)}`
  const expected = names.length > 0 ? `commands: ${names.join(', ')}` : usage
  command.showHelpAfterError(`${expected}\n(--help lists the commands and options)`)
  for (const subcommand of command.commands) showExpectedAfterError(subcommand)
}
