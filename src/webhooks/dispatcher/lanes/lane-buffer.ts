import type { StoredDelivery } from '../../deliveries/delivery.ts'

/** The buffered deliveries of all lanes together. */
export interface BufferUse {
  count: number
  /** From here on, deliveries stay in the store. Lanes that have none still read a few. */
  readonly limit: number
}

/** Whether the buffers of all lanes together are at their limit. */
export function isFull({ count, limit }: BufferUse): boolean {
  return count >= limit
}

/** The deliveries of one lane that wait in memory, in the order of sending. */
export interface LaneBuffer {
  size(): number
  ids(): string[]
  hasAny(matches: (row: StoredDelivery) => boolean): boolean
  add(rows: readonly StoredDelivery[]): void
  /** Removes and returns the first that matches; `null` without one. */
  take(matches: (row: StoredDelivery) => boolean): StoredDelivery | null
  /** Drops all others, and reports each. */
  keep(isKept: (row: StoredDelivery) => boolean): void
  /** Removes all but the first. */
  truncate(size: number): void
}

/** Creates an empty buffer that is counted in `use`. */
export function createLaneBuffer(
  use: BufferUse,
  onDrop: (row: StoredDelivery) => void,
): LaneBuffer {
  let rows: StoredDelivery[] = []

  return {
    size: () => rows.length,
    ids: () => rows.map(({ id }) => id),
    hasAny: (matches) => rows.some(matches),
    add(added) {
      rows.push(...added)
      use.count += added.length
    },
    take(matches) {
      const index = rows.findIndex(matches)
      const [row] = index < 0 ? [] : rows.splice(index, 1)
      if (row === undefined) return null
      use.count -= 1
      return row
    },
    keep(isKept) {
      rows = rows.filter((row) => {
        if (isKept(row)) return true
        use.count -= 1
        onDrop(row)
        return false
      })
    },
    truncate(size) {
      use.count -= rows.splice(size).length
    },
  }
}
