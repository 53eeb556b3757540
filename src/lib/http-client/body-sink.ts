import { allocateOwned, joinOwned, type OwnedBytes } from '../owned-bytes.ts'

/**
 * Receives the bytes of a body. The caller overwrites them after the call, so a sink copies what it
 * keeps.
 */
export interface BodySink<Body> {
  write(bytes: Buffer): void
  /** Returns the complete body. */
  end(): Body
}

/** Creates the sink of one response; `length` in bytes is `null` for a body in chunks. */
export type CreateSink<Body> = (length: number | null) => BodySink<Body>

/** Collects the bytes of a body, which are copied once when their length is known. */
export function collectBytes(length: number | null): BodySink<OwnedBytes> {
  return length === null ? collectParts() : fill(length)
}

function fill(length: number): BodySink<OwnedBytes> {
  const body = allocateOwned(length)
  let filled = 0
  return {
    write(bytes) {
      filled += bytes.copy(body, filled)
    },
    end: () => body,
  }
}

function collectParts(): BodySink<OwnedBytes> {
  const parts: Buffer[] = []
  return {
    write: (bytes) => void parts.push(Buffer.from(bytes)),
    end: () => joinOwned(parts),
  }
}
