/** The limits of a request for whole documents. One order may have megabytes. */
const BATCH_DOCUMENTS = 500
export const BATCH_BYTES = 4 * 1024 * 1024
/** For a document of unknown size, so that a batch has at most 50 of them. */
const UNKNOWN_BYTES = Math.floor(BATCH_BYTES / 50)

/**
 * Groups documents into batches of at most 500 documents and 4 MB; a larger document is alone.
 * `bytesOf`: the size of a document, `undefined` when it is unknown.
 */
export function* documentBatches<T>(
  documents: Iterable<T>,
  bytesOf: (document: T) => number | undefined,
): Generator<T[]> {
  let batch: T[] = []
  let bytes = 0
  for (const document of documents) {
    const size = bytesOf(document) ?? UNKNOWN_BYTES
    if (batch.length === BATCH_DOCUMENTS || (batch.length > 0 && bytes + size > BATCH_BYTES)) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(document)
    bytes += size
  }
  if (batch.length > 0) yield batch
}
