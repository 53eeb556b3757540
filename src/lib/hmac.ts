import { createHmac } from 'node:crypto'

/** HMAC-SHA-256 over the parts, one after the other; 32 bytes. */
export function hmacSha256(secret: Uint8Array, ...parts: (string | Uint8Array)[]): Buffer {
  const hmac = createHmac('sha256', secret)
  for (const part of parts) hmac.update(part)
  return hmac.digest()
}
