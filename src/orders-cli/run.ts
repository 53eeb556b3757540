import { readFileSync } from 'node:fs'
import { UsageError } from '../client/client.ts'
import { monotonicClock } from '../lib/clock.ts'
import { createStatusLine } from '../lib/status-line.ts'
import { didYouMean } from './arguments.ts'
import { type Context, type ProcessContext, writeText } from './context.ts'
import { explain, Interruption, ResumableError } from './errors.ts'
import { runExport } from './export/command.ts'
import { runGet } from './get.ts'
import { exportHelp, getHelp, helpOf, ordersHelp, syncHelp } from './help.ts'
import { runSync } from './sync/command.ts'

interface Command {
  run(args: readonly string[], context: Context): Promise<void>
  help: string
}

const commands: Readonly<Record<string, Command>> = {
  export: { run: runExport, help: exportHelp },
  get: { run: runGet, help: getHelp },
  sync: { run: runSync, help: syncHelp },
}

/**
 * The program `orders`: results on stdout, everything else on stderr.
 * @returns the exit code: 0, 1 (failed), 2 (usage), or 128 plus the number of the signal
 */
export async function run(argv: readonly string[], io: ProcessContext): Promise<number> {
  const status = createStatusLine(io.stderr, monotonicClock)
  try {
    await dispatch(argv, { ...io, status })
    return 0
  } catch (error) {
    const { reason } = io.signal
    const interruption = reason instanceof Interruption ? reason : null
    const cause = error instanceof ResumableError ? error.cause : error
    const command = [...io.program, ...argv.slice(0, 1)]
    const { message, exitCode } = explain(cause, command, io.env)
    status.printLine(interruption === null ? message : 'Interrompido.')
    if (error instanceof ResumableError) status.printLine(error.hint)
    return interruption?.exitCode ?? exitCode
  }
}

async function dispatch(argv: readonly string[], context: Context): Promise<void> {
  const { program } = context
  const [name, ...args] = argv
  const command = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command !== undefined) {
    if (wantsHelp(args)) await writeText(context.stdout, helpOf(command.help, program))
    else await command.run(args, context)
  } else if (wantsHelp(argv)) {
    await writeText(context.stdout, helpOf(ordersHelp, program))
  } else if (name === '--version') {
    await writeText(context.stdout, `${version()}\n`)
  } else {
    const known = Object.keys(commands)
    const fault =
      name === undefined
        ? 'Falta o comando.'
        : `Não existe o comando "${name}".${didYouMean(name, known)}`
    throw new UsageError(`${helpOf(ordersHelp, program)}\n${fault} Use ${known.join(', ')}.`)
  }
}

function wantsHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return args.some((arg, at) => (arg === '--help' || arg === '-h') && (end === -1 || at < end))
}

/** Two folders up is the package in every build, and the root with the same version in sources. */
function version(): string {
  const file = new URL('../../package.json', import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')).version
}
