import type { ViewKey } from '../../../orders/order-store.ts'
import { BATCH_BYTES, documentBatches } from './document-batches.ts'

/** Documents of one order in a request while its size is unknown. Each may have megabytes. */
const MAX_UNKNOWN = 8
const UNKNOWN_BYTES = BATCH_BYTES / MAX_UNKNOWN

export interface ReadByOrder<T> {
  /** Sends one request, and returns what it found for each key. */
  read(keys: readonly ViewKey[]): Promise<readonly T[]>
  /** The size of a found document; `undefined` without one. */
  bytesOf(found: T): number | undefined
}

/**
 * Reads the documents of views, and returns what was found for each key. An order has up to 101
 * documents of about the same size. The first one shows it, so that the requests for the others
 * read at most 4 MB, or one document. Orders with few documents need one request.
 */
export async function readByOrder<T extends object | null>(
  keys: readonly ViewKey[],
  { read, bytesOf }: ReadByOrder<T>,
): Promise<T[]> {
  const found = new Map<ViewKey, T>()
  async function readAll(batch: readonly ViewKey[]): Promise<void> {
    const documents = await read(batch)
    batch.forEach((key, at) => {
      const document = documents[at]
      if (document !== undefined) found.set(key, document)
    })
  }

  const orders = [...Map.groupBy(keys, ({ orderId }) => orderId).values()]
  const firstCount = ({ length }: readonly ViewKey[]) => (length > MAX_UNKNOWN ? 1 : length)
  await readAll(orders.flatMap((ofOrder) => ofOrder.slice(0, firstCount(ofOrder))))
  const others = orders.flatMap((ofOrder) => {
    const [first] = ofOrder
    const sample = first && found.get(first)
    const bytes = sample === undefined ? undefined : bytesOf(sample)
    return ofOrder.slice(firstCount(ofOrder)).map((key) => ({ key, bytes }))
  })
  for (const batch of documentBatches(others, ({ bytes }) => bytes ?? UNKNOWN_BYTES)) {
    await readAll(batch.map(({ key }) => key))
  }
  return keys.map((key) => {
    const document = found.get(key)
    if (document === undefined) throw new Error('a read returned no result for a document')
    return document
  })
}
