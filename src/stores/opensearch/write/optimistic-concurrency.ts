import type { DocumentState } from '../client/documents/document-state.ts'
import { renderTombstone } from '../client/documents/tombstone.ts'

export type BulkTarget = 'orders' | 'eventRecords' | 'versionRecords'

export interface BulkAddress {
  _id: string
  routing?: string
}

/**
 * The conditions of the items of a bulk, so that a late one changes nothing that was written since:
 * see `lease/fence.md`. A document or tombstone replaces earlier ones only. A version record
 * replaces only the state on which it was decided.
 */
export interface OptimisticConcurrency {
  /** Ignores the states of documents. */
  recordState(target: BulkTarget, id: string, state: DocumentState | null): void
  indexAction(target: BulkTarget, address: BulkAddress, writeTimestamp: number): string
  /** The lines that replace the document with a tombstone. */
  tombstoneAction(address: BulkAddress, writeTimestamp: number): string
}

/** Creates an empty set of states. Without a recorded state, a version record is only created. */
export function createOptimisticConcurrency(): OptimisticConcurrency {
  const versionRecords = new Map<string, DocumentState>()

  const documentAction = (address: BulkAddress, writeTimestamp: number) =>
    actionLine({ index: { ...address, ...externalVersion(writeTimestamp) } })

  return {
    recordState(target, id, state) {
      if (target !== 'versionRecords') return
      if (state === null) versionRecords.delete(id)
      else versionRecords.set(id, state)
    },
    indexAction(target, address, writeTimestamp) {
      if (target === 'orders') return documentAction(address, writeTimestamp)
      const state = target === 'versionRecords' ? versionRecords.get(address._id) : undefined
      // A version record is never removed, and a sequence is announced once.
      if (state === undefined) return actionLine({ create: address })
      return actionLine({ index: { ...address, ...state } })
    },
    tombstoneAction(address, writeTimestamp) {
      return `${documentAction(address, writeTimestamp)}${renderTombstone(writeTimestamp)}\n`
    },
  }
}

/**
 * The write timestamp is the version, so a late write conflicts with a newer document or tombstone.
 */
export function externalVersion(writeTimestamp: number) {
  return { version: writeTimestamp, version_type: 'external' }
}

/** Also replaces a document of this version, and does not increase it. */
export function sameExternalVersion(version: number) {
  return { version, version_type: 'external_gte' }
}

function actionLine(action: object): string {
  return `${JSON.stringify(action)}\n`
}
