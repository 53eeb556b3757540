import { type Change, parseChange, type ValidationError } from '../projection/change.ts'

/** A longer line is rejected unread. */
export const MAX_ORDER_BYTES = 4 * 1024 * 1024

export const TOO_LONG: ValidationError = {
  path: '',
  reason: `longer than ${MAX_ORDER_BYTES} bytes`,
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Parses the bytes of one source order; `null` when they are blank. */
export function parseOrder(bytes: Uint8Array): Change | ValidationError | null {
  if (bytes.length > MAX_ORDER_BYTES) return TOO_LONG
  let text: string
  try {
    text = utf8.decode(bytes).trim()
  } catch {
    return { path: '', reason: 'not valid UTF-8' }
  }
  return text === '' ? null : parseChange(text)
}
