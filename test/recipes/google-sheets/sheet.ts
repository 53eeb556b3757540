/** A stored cell: a text that starts with `=` becomes a formula. */
export type Cell = string | number | Date | { formula: string }
export type Grid = Cell[][]

/** A new Google sheet has 1,000 rows; fewer reveal a script that does not add rows. */
const ROWS = 200
/** Of a new Google sheet. Every one counts towards its maximum of cells. */
export const NEW_COLUMNS = 26
const MAX_CELL_LENGTH = 50_000

interface SheetOptions {
  name: string
  grid: Grid
  /** The number of columns of each sheet of the document. */
  columns: Record<string, number>
  onRead: (rows: number) => void
}

/**
 * A stand-in for a Google sheet with the calls of the recipe. It parses text as typed input, and
 * rejects a range outside the sheet.
 */
export class Sheet {
  readonly #grid: Grid
  readonly #name: string
  readonly #columns: Record<string, number>
  readonly #onRead: (rows: number) => void

  /** `onRead` receives the number of rows of each read. */
  constructor({ name, grid, columns, onRead }: SheetOptions) {
    this.#grid = grid
    this.#name = name
    this.#columns = columns
    this.#onRead = onRead
  }

  getMaxColumns() {
    return this.#columns[this.#name] ?? NEW_COLUMNS
  }

  /** The stand-in deletes only the last columns. */
  deleteColumns(column: number, count: number) {
    const left = column - 1
    if (left < 1 || left + count !== this.getMaxColumns()) throw new Error('only the last columns')
    this.#columns[this.#name] = left
  }

  getMaxRows() {
    return Math.max(ROWS, this.#grid.length)
  }

  insertRowsAfter(row: number, count: number) {
    if (row !== this.getMaxRows()) throw new Error('only after the last row')
    const rows = row + count
    while (this.#grid.length < rows) this.#grid.push([])
  }

  /** The number of the last row with content. */
  getLastRow() {
    return this.#grid.findLastIndex((row) => row.some((cell) => cell !== '')) + 1
  }

  getRange(row: number, column: number, rows: number, columns: number) {
    const isInside = row + rows - 1 <= this.getMaxRows() && columns <= this.getMaxColumns()
    if (row < 1 || column !== 1 || rows < 1 || !isInside) {
      throw new Error('The coordinates of the range are outside the dimensions of the sheet.')
    }
    const lines = Array.from({ length: rows }, (_, index) => row - 1 + index)
    return {
      getValues: () => {
        this.#onRead(rows)
        return lines.map((at) => this.#grid[at]?.slice(0, columns) ?? blank(columns))
      },
      clearContent: () => this.#write(lines.map((at) => [at, blank(columns)])),
      setValues: (values: unknown[][]) => {
        if (values.length !== rows || values.some((cells) => cells.length !== columns)) {
          throw new Error('The number of rows or columns does not match the range.')
        }
        this.#write(values.map((cells, index) => [row - 1 + index, cells.map(typed)]))
      },
    }
  }

  #write(lines: [number, Cell[]][]) {
    for (const [at, cells] of lines) {
      while (this.#grid.length <= at) this.#grid.push([])
      this.#grid[at] = cells
    }
  }
}

const blank = (columns: number): Cell[] => Array.from({ length: columns }, () => '')

function typed(value: unknown): Cell {
  if (typeof value === 'number') return value
  // Created by another realm's constructor.
  if (Object.prototype.toString.call(value) === '[object Date]') return new Date(Number(value))
  const text = String(value)
  if (text.length > MAX_CELL_LENGTH) {
    throw new Error(
      'Your input contains more than the maximum of 50000 characters in a single cell.',
    )
  }
  if (text.startsWith("'")) return text.slice(1)
  if (text.startsWith('=') || text.startsWith('+')) return { formula: text }
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : text
}
