import type { StreamEntry } from '../../indexing/sources/change-stream.ts'
import type { BatchLimits } from '../../indexing/sources/ndjson.ts'

/** The entries of one fetch of a partition, and the offset of the next one. */
export interface FetchedEntries {
  entries: readonly PartitionEntry[]
  nextOffset: bigint
}

/** An entry, and its offset in its partition. */
export interface PartitionEntry extends Omit<StreamEntry, 'ageMs'> {
  offset: bigint
  /**
   * When it entered the topic, by the monotonic clock: an entry may be read long after its fetch.
   */
  enteredAtMs: number
}

/** An offset in each partition. */
export type Offsets = ReadonlyMap<number, bigint>

interface QueuedEntry {
  entry: PartitionEntry
  isAcknowledged: boolean
}

interface Partition {
  /** The last committed offset that this process read or wrote; `undefined`: to be committed. */
  committed: bigint | undefined
  fetchOffset: bigint
  /** Fetched entries in the order of their offsets, from the committed offset. */
  queue: readonly QueuedEntry[]
}

/**
 * Tracks what was fetched and acknowledged in each partition. The offset to commit is that of the
 * first unacknowledged entry, so a commit never skips one.
 */
export interface Positions {
  /**
   * Synchronises with the committed offsets of the group. A partition starts again at its committed
   * offset when another process has changed it. `starts` has the offsets of partitions without one.
   */
  syncCommitted(committed: Offsets, starts: Offsets): void
  /** Removes every partition. */
  clear(): void
  /** Commits every partition again, even without progress. */
  recommit(): void
  fetchOffsets(): Offsets
  add(partition: number, fetched: FetchedEntries): void
  /** Drops what was fetched from a partition and continues at an offset. */
  seek(partition: number, offset: bigint): void
  /** Fetched and unacknowledged entries, the entry that reaches a limit included. */
  unacknowledged(limits: BatchLimits): PartitionEntry[]
  /** Whether an entry was fetched and is not acknowledged. */
  isPending(id: string): boolean
  /** Unknown ids are ignored. */
  acknowledge(ids: readonly string[]): void
  /** The offsets that differ from the committed ones. */
  toCommit(): Offsets
  recordCommitted(offsets: Offsets): void
}

/** The id of an entry: its partition and offset. */
export const entryId = (partition: number, offset: bigint): string => `${partition}-${offset}`

/** Creates positions without partitions. */
export function createPositions(): Positions {
  const partitions = new Map<number, Partition>()
  const queued = new Map<string, QueuedEntry>()

  function forget(queue: readonly QueuedEntry[]): void {
    for (const { entry } of queue) queued.delete(entry.id)
  }
  function startAt(number: number, offset: bigint, committed: bigint | undefined): void {
    forget(partitions.get(number)?.queue ?? [])
    partitions.set(number, { committed, fetchOffset: offset, queue: [] })
  }
  function changedPositions(): [number: number, offset: bigint][] {
    return [...partitions].flatMap(([number, { committed, fetchOffset, queue }]) => {
      const first = queue.find(({ isAcknowledged }) => !isAcknowledged)
      const position = first?.entry.offset ?? fetchOffset
      return position === committed ? [] : [[number, position]]
    })
  }

  return {
    syncCommitted(committed, starts) {
      for (const [number, { queue }] of partitions) {
        if (committed.has(number) || starts.has(number)) continue
        forget(queue)
        partitions.delete(number)
      }
      for (const [number, offset] of committed) {
        if (partitions.get(number)?.committed !== offset) startAt(number, offset, offset)
      }
      for (const [number, offset] of starts) {
        const known = partitions.get(number)
        // A partition that never had a committed offset keeps its progress.
        if (known === undefined || known.committed !== undefined) startAt(number, offset, undefined)
      }
    },
    clear() {
      partitions.clear()
      queued.clear()
    },
    recommit() {
      for (const partition of partitions.values()) partition.committed = undefined
    },
    fetchOffsets: () =>
      new Map([...partitions].map(([number, { fetchOffset }]) => [number, fetchOffset])),
    add(number, { entries, nextOffset }) {
      const partition = partitions.get(number)
      if (partition === undefined) return
      const added = entries.map((entry) => ({ entry, isAcknowledged: false }))
      for (const one of added) queued.set(one.entry.id, one)
      partition.queue = [...partition.queue, ...added]
      partition.fetchOffset = nextOffset
    },
    seek(number, offset) {
      startAt(number, offset, partitions.get(number)?.committed)
    },
    unacknowledged(limits) {
      const batch: PartitionEntry[] = []
      let bytes = 0
      for (const { entry, isAcknowledged } of queued.values()) {
        if (isAcknowledged) continue
        if (batch.length >= limits.entries || bytes >= limits.bytes) break
        batch.push(entry)
        bytes += entry.order?.length ?? 0
      }
      return batch
    },
    isPending: (id) => queued.get(id)?.isAcknowledged === false,
    acknowledge(ids) {
      for (const id of ids) {
        const one = queued.get(id)
        if (one !== undefined) one.isAcknowledged = true
      }
    },
    toCommit: () => new Map(changedPositions()),
    recordCommitted(offsets) {
      for (const [number, offset] of offsets) {
        const partition = partitions.get(number)
        if (partition === undefined) continue
        const isDone = ({ entry }: QueuedEntry) => entry.offset < offset
        forget(partition.queue.filter(isDone))
        partition.queue = partition.queue.filter((one) => !isDone(one))
        partition.committed = offset
      }
    },
  }
}
