/** A tracking with the name `\`, and one with `"` in its place. */
export const BACKSLASH_TRACKING = { zz1: 'x', '\\': 'y' }
export const QUOTE_TRACKING = { zz1: 'x', '"': '1' }

/**
 * Afterwards, `JSON.parse` reads the second name as the first in this process (nodejs/node#63785).
 */
export function confuseParser(): void {
  JSON.parse(JSON.stringify(BACKSLASH_TRACKING))
}
