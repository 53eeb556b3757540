interface LineLength {
  /** 0 when absent. */
  minLength?: number
  maxLength: number
}

/** The source of a regular expression: no control characters. */
export const ONE_LINE = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'
const oneLine = new RegExp(ONE_LINE)

/**
 * Whether a text has one line of this length. Lengths are in code points, as in a JSON Schema: an
 * emoji is one or more of them, and each can be two of the units of `text.length`.
 */
export function isOneLine(text: string, { minLength = 0, maxLength }: LineLength): boolean {
  // A text has at most twice as many units as code points.
  if (text.length > 2 * maxLength || !oneLine.test(text)) return false
  const { length } = [...text]
  return length >= minLength && length <= maxLength
}
