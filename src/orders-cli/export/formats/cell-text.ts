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

/** Shortens a text to the limit of a cell. */
export function truncate(text: string): string {
  return text.length <= MAX_CELL ? text : `${text.slice(0, MAX_CELL - 1)}…`
}
