import type { RecordsBatch } from '@platformatic/kafka'

const TRANSACTIONAL = 0b1_0000
const CONTROL = 0b10_0000
/** The type of a control record, in its key after the version. */
const ABORT = 0

interface AbortedTransaction {
  producerId: bigint
  firstOffset: bigint
}

/**
 * Removes control batches and the batches of aborted transactions. `aborted` has the transactions
 * that a broker reports for these batches.
 */
export function committedBatches(
  batches: readonly RecordsBatch[],
  aborted: readonly AbortedTransaction[],
): RecordsBatch[] {
  const starting = aborted.toSorted((one, other) => (one.firstOffset < other.firstOffset ? -1 : 1))
  const aborting = new Set<bigint>()
  return batches.filter((batch) => {
    const { attributes, producerId } = batch
    const lastOffset = batch.firstOffset + BigInt(batch.lastOffsetDelta)
    while (starting[0] !== undefined && starting[0].firstOffset <= lastOffset) {
      aborting.add(starting[0].producerId)
      starting.shift()
    }
    if ((attributes & CONTROL) !== 0) {
      if (batch.records[0]?.key?.readInt16BE(2) === ABORT) aborting.delete(producerId)
      return false
    }
    return (attributes & TRANSACTIONAL) === 0 || !aborting.has(producerId)
  })
}
