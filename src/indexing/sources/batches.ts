/** How much goes together: so much that a round trip pays, in bounded memory. */
export interface BatchLimits {
  entries: number
  bytes: number
}

/** Entries in their order: a batch is closed by the one with which it reaches either limit. */
export async function* inBatches<T extends { bytes: number }>(
  entries: AsyncIterable<T> | Iterable<T>,
  limits: BatchLimits,
): AsyncGenerator<T[]> {
  let batch: T[] = []
  let bytes = 0
  for await (const entry of entries) {
    batch.push(entry)
    bytes += entry.bytes
    if (batch.length >= limits.entries || bytes >= limits.bytes) {
      yield batch
      batch = []
      bytes = 0
    }
  }
  if (batch.length > 0) yield batch
}
