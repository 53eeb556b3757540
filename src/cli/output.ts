/** A result that a program may read, on stdout. */
export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2))
}

/** Rows under their column names, on stdout. */
export function printTable(rows: readonly Record<string, unknown>[]): void {
  const [first] = rows
  if (first === undefined) {
    console.error('none')
    return
  }
  const names = Object.keys(first)
  const cells = rows.map((row) => names.map((name) => cell(row[name])))
  const widths = names.map((name, at) => {
    return Math.max(name.length, ...cells.map((row) => row[at]?.length ?? 0))
  })
  for (const row of [names, ...cells]) {
    console.log(
      row
        .map((text, at) => text.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
  }
}

function cell(value: unknown): string {
  if (value === null || value === '') return '-'
  return Array.isArray(value) ? value.join(',') || '-' : String(value)
}
