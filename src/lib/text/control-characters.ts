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
