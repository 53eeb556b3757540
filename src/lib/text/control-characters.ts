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

/** What JSON does not escape, and so is in its texts only. */
const UNESCAPED = /[^\P{Cc}\n]|\p{Bidi_Control}/gu

/** The same JSON with the other control characters escaped, for output that may be a terminal. */
export const escapeControls = (json: string): string =>
  json.replace(UNESCAPED, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)
