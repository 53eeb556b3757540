import { fstatSync, statSync } from 'node:fs'
import { devNull } from 'node:os'
import { escapeControls, replaceControls } from '../lib/text/control-characters.ts'
import type { CommandContext, ProgramIo } from './command-context.ts'

/** The option `--json` of a command. */
export interface JsonFlag {
  json?: true
}

/** Prints a machine-readable result to stdout. */
export function printJson(value: unknown, { stdout }: Pick<ProgramIo, 'stdout'>): void {
  stdout.write(jsonText(value))
}

/** The text of a machine-readable result. */
export const jsonText = (value: unknown) => `${escapeControls(JSON.stringify(value, null, 2))}\n`

/** Prints a result to stdout: as JSON with `--json`, otherwise its rows as a table. */
export function printResult(
  json: JsonFlag['json'],
  result: unknown,
  rows: readonly Record<string, unknown>[],
  context: Pick<ProgramIo, 'stdout' | 'stderr'>,
): void {
  if (json) printJson(result, context)
  else printTable(rows, context)
}

/**
 * Prints a secret to stdout. It exists nowhere else: where the write fails, `nextStep` is printed
 * on stderr, and the command fails. The null device is a warning, since a script may want it.
 */
export function printSecret(
  text: string,
  nextStep: string,
  { stdout, stderr, setFailed }: Pick<CommandContext, 'stdout' | 'stderr' | 'setFailed'>,
): Promise<void> {
  return new Promise((resolve) => {
    stdout.write(text, (error) => {
      if (error || isDiscarded(stdout)) stderr.write(`${nextStep}\n`)
      if (error) setFailed()
      resolve()
    })
  })
}

/** Whether it is the null device, which Node also opens in place of a closed stdout (`>&-`). */
function isDiscarded({ fd }: Pick<ProgramIo['stdout'], 'fd'>): boolean {
  if (fd === undefined || process.platform === 'win32') return false // Its devices have no number.
  return fstatSync(fd).rdev === statSync(devNull).rdev
}

/**
 * Prints rows under their column names to stdout. On a terminal that is too narrow for that, each
 * value has a line of its own.
 */
export function printTable(
  rows: readonly Record<string, unknown>[],
  { stdout, stderr }: Pick<ProgramIo, 'stdout' | 'stderr'>,
): void {
  const [first] = rows
  if (first === undefined) {
    stderr.write('none\n')
    return
  }
  const names = Object.keys(first)
  const cells = rows.map((row) => names.map((name) => cell(row[name])))
  const widths = names.map((name, at) => {
    return Math.max(name.length, ...cells.map((row) => row[at]?.length ?? 0))
  })
  const lines = [names, ...cells].map((row) => {
    return row
      .map((text, at) => text.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd()
  })
  // Zero: a terminal that does not report its width.
  const columns = stdout.columns || Number.POSITIVE_INFINITY
  const isNarrow = stdout.isTTY && lines.some((line) => line.length > columns)
  const blocks = cells.map((row) => alignRows(row.map((text, at) => [names[at] ?? '', text])))
  const printed = isNarrow ? blocks.map((block) => `${block.join('\n')}\n`) : lines
  stdout.write(`${printed.join('\n').trimEnd()}\n`)
}

/** Aligns values behind their names, one line each. */
export function alignRows(rows: readonly (readonly [name: string, value: string])[]): string[] {
  const width = Math.max(...rows.map(([name]) => name.length)) + 2
  return rows.map(([name, value]) => `${name}:`.padEnd(width) + value)
}

/**
 * Keeps the process running when the reader of its output exits early (`… | head`), and ends it
 * after any other error, such as a full disk. `src/orders-cli/main.ts`, which imports nothing from
 * this folder, has its own version.
 */
export function handleOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') return
      if (stream === process.stdout) process.stderr.write(`cannot write stdout: ${error.message}\n`)
      process.exit(1)
    })
  }
}

function cell(value: unknown): string {
  if (value === null || value === '') return '-'
  return Array.isArray(value) ? value.join(',') || '-' : replaceControls(String(value))
}
