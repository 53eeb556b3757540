/** The message of an error. Where all addresses of a host refuse, Node's has a code alone. */
export function errorText(error: unknown): string {
  const { message, code } = Object(error) as { message?: string; code?: string }
  return message || code || String(error)
}
