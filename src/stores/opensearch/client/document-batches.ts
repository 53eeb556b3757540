/** The limits of a request for whole documents. One order may have megabytes. */
const BATCH = { documents: 500, bytes: 4 * 1024 * 1024 }
/** For a document without a checksum header, so that a batch has at most 50 of them. */
const UNKNOWN_BYTES = Math.floor(BATCH.bytes / 50)

/** Groups documents into batches of at most 500 documents and 4 MB; a larger document is alone. */
export function* documentBatches<T>(
  documents: Iterable<T>,
  checksumHeaderOf: (document: T) => unknown,
): Generator<T[]> {
  let batch: T[] = []
  let bytes = 0
  for (const document of documents) {
    const size = orderByteLength(checksumHeaderOf(document))
    if (batch.length === BATCH.documents || (batch.length > 0 && bytes + size > BATCH.bytes)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(document)
    bytes += size
  }
  if (batch.length > 0) yield batch
}

/** The byte length of the order, which the checksum header ends with. */
function orderByteLength(checksumHeader: unknown): number {
  const [, hex] = /-([0-9a-f]{8})$/.exec(String(checksumHeader)) ?? []
  return hex === undefined ? UNKNOWN_BYTES : Number.parseInt(hex, 16)
}
