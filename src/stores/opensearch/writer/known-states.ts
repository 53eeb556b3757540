import type { DocumentState } from '../documents.ts'
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
export interface KnownStates {
  see(target: BulkTarget, id: string, state: DocumentState | null): void
  /** The line of a bulk request, sent at this stamp, that writes the document where it is as it was seen. */
  putting(target: BulkTarget, address: BulkAddress, stamp: number): string
  /** The lines that leave a tombstone in the place of the document. */
  removing(address: BulkAddress, stamp: number): string
}

export function createKnownStates(): KnownStates {
  const states = { orders: new Map<string, DocumentState>(), heads: new Map() }
  const stateOf = (target: BulkTarget, { _id }: BulkAddress) => states[target].get(_id)

  return {
    see(target, id, state) {
      if (state === null) states[target].delete(id)
      else states[target].set(id, state)
    },
    putting(target, address, stamp) {
      const state = stateOf(target, address)
      if (state !== undefined) return line({ index: { ...address, ...state } })
      if (target === 'heads') return line({ create: address }) // A head is never removed.
      return line({ index: { ...address, ...atStamp(stamp) } })
    },
    removing(address, stamp) {
      const condition = stateOf('orders', address) ?? atStamp(stamp)
      return `${line({ index: { ...address, ...condition } })}${renderTombstone(stamp)}\n`
    },
  }
}

/** Its version is the stamp, so that an older one changes nothing of what left a later one. */
export function atStamp(stamp: number) {
  return { version: stamp, version_type: 'external' }
}

function line(action: object): string {
  return `${JSON.stringify(action)}\n`
}
