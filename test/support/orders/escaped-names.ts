/** A tracking with the name `\`, and one with `"` in its place. */
export const BACKSLASH_TRACKING = { zz1: 'x', '\\': 'y' }
export const QUOTE_TRACKING = { zz1: 'x', '"': '1' }

/** From here on, `JSON.parse` takes the second for the first in this process (nodejs/node#63785). */
export function confuseParser(): void {
  JSON.parse(JSON.stringify(BACKSLASH_TRACKING))
}
