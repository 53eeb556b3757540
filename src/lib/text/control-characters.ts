/** Shown for a character that is no text. */
export const REPLACEMENT = '\uFFFD'
/** All but tabs and line ends; a `\r` alone would overwrite its line. */
const CONTROLS = /\r(?!\n)|[^\P{Cc}\t\r\n]/gu

/**
 * Replaces the control characters of a text that a server sent, which would control the terminal
 * that shows it.
 */
export const replaceControls = (text: string): string => text.replace(CONTROLS, REPLACEMENT)
