/** Rows under their column names: the first column to the left, figures to the right, 2 spaces between. */
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

/** A figure with about three digits that count: 0.123, 1.23, 12.3, 123, 12345. */
export function formatFigure(value: number): string {
  if (!Number.isFinite(value)) return '-'
  const decimals = [1, 10, 100].filter((bound) => Math.abs(value) < bound).length
  return value.toFixed(decimals)
}

/** Two figures of the same kind, side by side. */
export function formatPair(first: number, second: number): string {
  return `${formatFigure(first)}/${formatFigure(second)}`
}

/** A figure, and how many times the one it is compared with it is. */
export function formatWithRatio(value: number, ratio: number): string {
  return `${formatFigure(value)} ×${formatRatio(ratio)}`
}

/** Two decimals: what is finer than a hundredth is noise. */
export function formatRatio(ratio: number): string {
  return Number.isFinite(ratio) ? ratio.toFixed(2) : '-'
}
