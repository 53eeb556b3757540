/** Bytes that have a buffer of their own, so that their owner can free it. */
export type OwnedBytes = Buffer<ArrayBuffer>

/**
 * Allocates bytes of unspecified content. Node's other functions may share one buffer among many.
 */
export function allocateOwned(length: number): OwnedBytes {
  return Buffer.allocUnsafeSlow(length)
}

/** Copies the parts one after another. */
export function joinOwned(parts: readonly Uint8Array[]): OwnedBytes {
  let length = 0
  for (const part of parts) length += part.length
  const joined = allocateOwned(length)
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

/** Frees the buffer now: every view of it is empty afterwards. */
export function freeOwned({ buffer }: Uint8Array<ArrayBuffer>): void {
  buffer.transfer(0)
}
