/** Excel's limit for a cell; a longer text would move into other cells, or damage the file. */
const MAX_CELL = 32_767

/**
 * The text of a cell for Excel. Line breaks become LF; other control characters are invisible or
 * end the cell.
 */
export function cellText(text: string): string {
  return truncate(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it removes them
    text.replace(/\r\n?/g, '\n').replace(/[\0-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, ''),
  )
}

/** The first half of a character with two code units, such as an emoji, at the end of a text. */
const HALF_CHARACTER = /[\ud800-\udbff]$/

/** Shortens a text to the limit of a cell, at the end of a character. */
export function truncate(text: string): string {
  if (text.length <= MAX_CELL) return text
  return `${text.slice(0, MAX_CELL - 1).replace(HALF_CHARACTER, '')}…`
}
