/** The records of a CSV text, parsed strictly by RFC 4180. */
function parseCsv(text: string, separator: string): string[][] {
  const records: string[][] = []
  let cells: string[] = []
  let at = 0
  while (at < text.length) {
    cells.push(text[at] === '"' ? inQuotes() : plain())
    if (text[at] === separator) {
      at++
      if (text.startsWith('\r\n', at)) cells.push('')
    }
    if (!text.startsWith('\r\n', at)) continue
    at += 2
    records.push(cells)
    cells = []
  }
  if (cells.length > 0) throw new Error('the last line has no end')
  return records

  function inQuotes(): string {
    let cell = ''
    for (at++; ; at++) {
      const end = text.indexOf('"', at)
      if (end === -1) throw new Error('quotes without an end')
      cell += text.slice(at, end)
      at = end + 1
      if (text[at] !== '"') break
      cell += '"'
    }
    if (text[at] !== separator && !text.startsWith('\r\n', at)) {
      throw new Error(`something after the quotes at ${at}`)
    }
    return cell
  }

  function plain(): string {
    const ends = [text.indexOf(separator, at), text.indexOf('\r\n', at)].filter((end) => end !== -1)
    const cell = text.slice(at, Math.min(...ends))
    if (/["\r\n]/.test(cell)) throw new Error(`a cell lacks its quotes: ${cell}`)
    at += cell.length
    return cell
  }
}

/** Records as objects with the keys of the header. */
export function csvRows(text: string, separator: string): Record<string, string>[] {
  const [names = [], ...records] = parseCsv(text, separator)
  return records.map((cells) => {
    if (cells.length !== names.length) throw new Error(`${cells.length} cells: ${cells}`)
    return Object.fromEntries(names.map((name, at) => [name, cells[at] ?? '']))
  })
}

/** The text that Excel displays: that of a text formula, or the cell. */
export function shownByExcel(cell: string): string {
  const literal = /^="((?:[^"]|"")*)"$/.exec(cell)?.[1]
  return literal === undefined ? cell : literal.replaceAll('""', '"')
}
