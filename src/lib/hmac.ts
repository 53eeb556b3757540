import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'

/** Caches imported keys: importing the secret for each signature is five times slower. */
const keys = new WeakMap<Uint8Array, KeyObject>()

/** HMAC-SHA-256 over the concatenated parts, 32 bytes. Do not modify `secret` after a call. */
export function hmacSha256(secret: Uint8Array, ...parts: (string | Uint8Array)[]): Buffer {
  const key = keys.get(secret) ?? createSecretKey(secret)
  keys.set(secret, key)
  const hmac = createHmac('sha256', key)
  for (const part of parts) hmac.update(part)
  return hmac.digest()
}
