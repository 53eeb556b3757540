import { hash } from 'node:crypto'

const BLOCK_BYTES = 64
const DIGEST_BYTES = 32
const SCRATCH_BYTES = 4_096

/** The blocks that a secret becomes (RFC 2104); `outer` has room for the inner digest after it. */
interface Pads {
  inner: Buffer
  outer: Buffer
}

const padsBySecret = new WeakMap<Uint8Array, Pads>()

// Of its own, since the pool of `Buffer.allocUnsafe` would pass the pads on to other buffers.
const scratch = Buffer.alloc(SCRATCH_BYTES)

/**
 * HMAC-SHA-256 over the concatenated parts, 32 bytes. Do not modify `secret` after a call. Two
 * one-shot hashes cost half as much as an `Hmac` object, of which a page needs three.
 */
export function hmacSha256(secret: Uint8Array, ...parts: (string | Uint8Array)[]): Buffer {
  const { inner, outer } = padsOf(secret)
  outer.write(sha256(concatenate(inner, parts)), BLOCK_BYTES, 'binary')
  return Buffer.from(sha256(outer), 'binary')
}

// A digest as a string is several times as fast as one in a buffer.
const sha256 = (bytes: Uint8Array) => hash('sha256', bytes, 'binary')

function padsOf(secret: Uint8Array): Pads {
  const known = padsBySecret.get(secret)
  if (known !== undefined) return known
  const key = secret.length > BLOCK_BYTES ? Buffer.from(sha256(secret), 'binary') : secret
  const pads = {
    inner: Buffer.alloc(BLOCK_BYTES, 0x36),
    outer: Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES, 0x5c),
  }
  for (const [at, byte] of key.entries()) {
    pads.inner[at] = byte ^ 0x36
    pads.outer[at] = byte ^ 0x5c
  }
  padsBySecret.set(secret, pads)
  return pads
}

/** The parts after `start`, valid until the next call. */
function concatenate(start: Buffer, parts: readonly (string | Uint8Array)[]): Buffer {
  let length = start.length
  for (const part of parts) length += Buffer.byteLength(part)
  const bytes = length > SCRATCH_BYTES ? Buffer.alloc(length) : scratch
  bytes.set(start)
  let at = start.length
  for (const part of parts) {
    if (typeof part === 'string') at += bytes.write(part, at)
    else {
      bytes.set(part, at)
      at += part.length
    }
  }
  return bytes.subarray(0, length)
}
