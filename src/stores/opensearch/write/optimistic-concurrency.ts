import type { DocumentState } from '../client/documents/document-state.ts'
import { renderTombstone } from '../client/documents/tombstone.ts'

export type BulkTarget = 'orders' | 'eventRecords' | 'versionRecords'

export interface BulkAddress {
  _id: string
  routing?: string
}

/**
 * The document states on which a bulk was decided. Its items replace only these, so a late bulk
 * changes nothing that was written since: see `lease/fence.md`.
 */
export interface OptimisticConcurrency {
  recordState(target: BulkTarget, id: string, state: DocumentState | null): void
  /** The action line that writes the document if its state is unchanged. */
  indexAction(target: BulkTarget, address: BulkAddress, writeTimestamp: number): string
  /** The lines that replace the document with a tombstone if its state is unchanged. */
  tombstoneAction(address: BulkAddress, writeTimestamp: number): string
}

/**
 * Creates an empty set of states. Without a recorded state, the write timestamp is the external
 * version of a document, and a version record is only created.
 */
export function createOptimisticConcurrency(): OptimisticConcurrency {
  const states: Record<BulkTarget, Map<string, DocumentState>> = {
    orders: new Map(),
    eventRecords: new Map(),
    versionRecords: new Map(),
  }
  const stateOf = (target: BulkTarget, { _id }: BulkAddress) => states[target].get(_id)

  return {
    recordState(target, id, state) {
      if (state === null) states[target].delete(id)
      else states[target].set(id, state)
    },
    indexAction(target, address, writeTimestamp) {
      const state = stateOf(target, address)
      if (state !== undefined) return actionLine({ index: { ...address, ...state } })
      // A version record is never removed, and a sequence is announced once.
      if (target !== 'orders') return actionLine({ create: address })
      return actionLine({ index: { ...address, ...externalVersion(writeTimestamp) } })
    },
    tombstoneAction(address, writeTimestamp) {
      const condition = stateOf('orders', address) ?? externalVersion(writeTimestamp)
      return `${actionLine({ index: { ...address, ...condition } })}${renderTombstone(writeTimestamp)}\n`
    },
  }
}

/**
 * The write timestamp is the version, so a late write conflicts with a newer document or tombstone.
 */
export function externalVersion(writeTimestamp: number) {
  return { version: writeTimestamp, version_type: 'external' }
}

function actionLine(action: object): string {
  return `${JSON.stringify(action)}\n`
}
