/** Shown for a character that is no text. */
export const REPLACEMENT = '\uFFFD'
/**
 * All but tabs and line ends; a `\r` alone would overwrite its line. Controls of direction would
 * display the rest of a line in another order.
 */
const CONTROLS = /\r(?!\n)|[^\P{Cc}\t\r\n]|\p{Bidi_Control}/gu

/**
 * Replaces the control characters of a text that a server sent or an account chose, which would
 * control the terminal that shows it.
 */
export const replaceControls = (text: string): string => text.replace(CONTROLS, REPLACEMENT)

const toEscape = (character: string) =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** What JSON does not escape, and so is in its texts only. */
const UNESCAPED = /[^\P{Cc}\n]|\p{Bidi_Control}/gu

/** The same JSON with the other control characters escaped, for output that may be a terminal. */
export const escapeControls = (json: string): string => json.replace(UNESCAPED, toEscape)

/** What ends a line for `readline` of Node or `str.splitlines` of Python, and not in JSON. */
const LINE_ENDS = /[\u0085\u2028\u2029]/g

/** The same JSON with these characters escaped, for files with one JSON text per line. */
export const escapeLineEnds = (json: string): string => json.replace(LINE_ENDS, toEscape)
