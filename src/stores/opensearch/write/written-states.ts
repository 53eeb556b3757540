import { Unavailable } from '../../../lib/errors/unavailable.ts'
import type { BulkItemResult } from '../client/bulk/bulk-response.ts'
import {
  type DocumentState,
  documentState,
  isOlderState,
} from '../client/documents/document-state.ts'
import type { BulkItem } from './bulk-item.ts'

/** A node that was removed from the cluster responded as the primary that it was. */
export class StaleReadError extends Unavailable {}

/**
 * The states in which this writer's bulks left their documents since the last fence. The fence
 * makes earlier writes known to every node that reads: see `lease/fence.md`.
 */
export interface WrittenStates {
  /** Records the items that `index` accepted, by the results of their bulk. */
  record(index: string, items: readonly BulkItem[], results: readonly BulkItemResult[]): void
  /** @throws StaleReadError when the document, `null` if missing, is older than its last write */
  assertCurrent(index: string, id: string, read: DocumentState | null): void
  /** Whether there are so many that a fence must be raised, which forgets them. */
  isFull(): boolean
  clear(): void
}

/** About 20 MB. A load reaches it every 50,000 orders. */
const MAX_STATES = 100_000

export function createWrittenStates(maxStates: number = MAX_STATES): WrittenStates {
  const states = new Map<string, Map<string, DocumentState>>()
  function statesOf(index: string): Map<string, DocumentState> {
    const found = states.get(index) ?? new Map<string, DocumentState>()
    states.set(index, found)
    return found
  }

  return {
    record(index, items, results) {
      const accepted = statesOf(index)
      for (const [at, { address }] of items.entries()) {
        const state = documentState(results[at] ?? {}) // A rejected item left none.
        if (state !== null) accepted.set(address._id, state)
      }
    },

    assertCurrent(index, id, read) {
      const written = states.get(index)?.get(id)
      if (written === undefined || (read !== null && !isOlderState(read, written))) return
      throw new StaleReadError(
        `a node of OpenSearch that left the cluster returned an outdated ${id} of ${index}`,
      )
    },

    isFull: () => states.values().reduce((sum, { size }) => sum + size, 0) >= maxStates,
    clear: () => states.clear(),
  }
}
