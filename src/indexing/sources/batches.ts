/** The limits of a batch: large enough to amortise a round trip, in bounded memory. */
export interface BatchLimits {
  entries: number
  bytes: number
}

/** Groups entries in their order; the entry that reaches either limit closes the batch. */
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
