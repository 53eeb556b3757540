import type { DocumentState } from '../client/documents.ts'
import { renderTombstone } from '../tombstone.ts'

/** Where a document is, of what the writer writes. */
export type BulkTarget = 'orders' | 'heads'

/** A document, as its line of a bulk request names it. */
export interface BulkAddress {
  _id: string
  routing?: string
}

/**
 * The states in which a bulk saw its documents when it was decided. What it sends replaces just these: a bulk that
 * arrives late, by way of a node that slept through the swap of the aliases, changes nothing that was
 * written since.
 */
export interface OptimisticConcurrency {
  recordState(target: BulkTarget, id: string, state: DocumentState | null): void
  /** The line of a bulk request, sent at this stamp, that writes the document where it is as it was seen. */
  indexAction(target: BulkTarget, address: BulkAddress, writeTimestamp: number): string
  /** The lines that leave a tombstone in the place of the document. */
  tombstoneAction(address: BulkAddress, writeTimestamp: number): string
}

export function createOptimisticConcurrency(): OptimisticConcurrency {
  const states = { orders: new Map<string, DocumentState>(), heads: new Map() }
  const stateOf = (target: BulkTarget, { _id }: BulkAddress) => states[target].get(_id)

  return {
    recordState(target, id, state) {
      if (state === null) states[target].delete(id)
      else states[target].set(id, state)
    },
    indexAction(target, address, writeTimestamp) {
      const state = stateOf(target, address)
      if (state !== undefined) return actionLine({ index: { ...address, ...state } })
      if (target === 'heads') return actionLine({ create: address }) // A head is never removed.
      return actionLine({ index: { ...address, ...externalVersion(writeTimestamp) } })
    },
    tombstoneAction(address, writeTimestamp) {
      const condition = stateOf('orders', address) ?? externalVersion(writeTimestamp)
      return `${actionLine({ index: { ...address, ...condition } })}${renderTombstone(writeTimestamp)}\n`
    },
  }
}

/** Its version is the stamp, so that an older one changes nothing of what left a later one. */
export function externalVersion(writeTimestamp: number) {
  return { version: writeTimestamp, version_type: 'external' }
}

function actionLine(action: object): string {
  return `${JSON.stringify(action)}\n`
}
