import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'

/** A secret is handed over once: with its bytes each time, a signature takes five times as long. */
const keys = new WeakMap<Uint8Array, KeyObject>()

/** HMAC-SHA-256 over the parts, one after the other; 32 bytes. The bytes of a secret never change. */
export function hmacSha256(secret: Uint8Array, ...parts: (string | Uint8Array)[]): Buffer {
  const key = keys.get(secret) ?? createSecretKey(secret)
  keys.set(secret, key)
  const hmac = createHmac('sha256', key)
  for (const part of parts) hmac.update(part)
  return hmac.digest()
}
