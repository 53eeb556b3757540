/** Renders a table: the first column is left-aligned, the others right-aligned. */
export function renderTable(names: readonly string[], rows: readonly (readonly string[])[]) {
  const widths = names.map((name, at) =>
    Math.max(name.length, ...rows.map((row) => row[at]?.length ?? 0)),
  )
  const line = (cells: readonly string[]) =>
    widths
      .map((width, at) => (at === 0 ? cells[at]?.padEnd(width) : cells[at]?.padStart(width)))
      .join('  ')
      .trimEnd()
  return [line(names), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

/** Formats with three significant digits or more: 0.123, 1.23, 12.3, 123, 12345. */
export function formatFigure(value: number): string {
  if (!Number.isFinite(value)) return '-'
  const decimals = [1, 10, 100].filter((bound) => Math.abs(value) < bound).length
  return value.toFixed(decimals)
}

/** Formats figures of several contenders in one cell. */
export function formatAll(values: readonly number[]): string {
  return values.map(formatFigure).join('/')
}

export function formatWithRatio(value: number, ratio: number): string {
  return `${formatFigure(value)} ×${formatRatio(ratio)}`
}

/** Formats with two decimals, since smaller differences are noise. */
export function formatRatio(ratio: number): string {
  return Number.isFinite(ratio) ? ratio.toFixed(2) : '-'
}
