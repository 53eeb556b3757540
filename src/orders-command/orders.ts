import { readFileSync } from 'node:fs'
import type { Context } from './context.ts'
import { runExport } from './export/command.ts'
import { UsageFault } from './faults.ts'
import { runGet } from './get.ts'
import { exportHelp } from './help/export.ts'
import { getHelp } from './help/get.ts'
import { ordersHelp } from './help/orders.ts'
import { syncHelp } from './help/sync.ts'
import { writeOut } from './output.ts'
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

/** The command line `orders`: results on stdout, everything else on stderr; exit 0, 1 (failed) or 2 (usage). */
export async function runOrders(args: readonly string[], context: Context): Promise<void> {
  const [name, ...rest] = args
  const command = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command !== undefined) {
    await (asksForHelp(rest) ? writeOut(command.help) : command.run(rest, context))
  } else if (asksForHelp(args)) {
    await writeOut(ordersHelp)
  } else if (name === '--version') {
    await writeOut(`${version()}\n`)
  } else {
    const told = name === undefined ? 'Falta o comando' : `Não existe o comando "${name}"`
    throw new UsageFault(`${ordersHelp}\n${told}. Use ${Object.keys(commands).join(', ')}.`)
  }
}

function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return args.some((arg, at) => (arg === '--help' || arg === '-h') && (end === -1 || at < end))
}

function version(): string {
  const file = new URL('../../package.json', import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')).version
}
