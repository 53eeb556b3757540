import type { ProgramIo } from './command-context.ts'

/** A result that a program may read, on stdout. */
export function printJson(value: unknown, { stdout }: Pick<ProgramIo, 'stdout'>): void {
  stdout.write(`${JSON.stringify(value, null, 2)}\n`)
}

/** Rows under their column names, on stdout. */
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
  for (const row of [names, ...cells]) {
    const line = row.map((text, at) => text.padEnd(widths[at] ?? 0)).join('  ')
    stdout.write(`${line.trimEnd()}\n`)
  }
}

function cell(value: unknown): string {
  if (value === null || value === '') return '-'
  return Array.isArray(value) ? value.join(',') || '-' : String(value)
}
