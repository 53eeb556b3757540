import { firstChunk } from '../client/bulk/bulk-request.ts'
import { type BulkItemResult, outcomeOf } from '../client/bulk/bulk-response.ts'
import type { OpenSearch } from '../client/client.ts'
import { documentState } from '../client/documents/document-state.ts'
import { readDocuments } from '../client/documents/read-documents.ts'
import { actionLines, type BulkItem, checkAccepted } from './bulk-item.ts'
import {
  createOptimisticConcurrency,
  type OptimisticConcurrency,
} from './optimistic-concurrency.ts'
import type { WrittenStates } from './written-states.ts'

export interface VersionRecordSenderOptions {
  client: OpenSearch
  /** Receives the results of each bulk to the index that is read. */
  written: Pick<WrittenStates, 'record'>
  /** For each request, in milliseconds. */
  deadlineMs: number
  /** The indices of version records, the one that is read first. A fence changes them. */
  targets(): readonly string[]
  /** Sends one bulk through the write alias of an index. */
  sendLines(index: string, lines: readonly string[]): Promise<BulkItemResult[]>
}

/** What one request did. Items that met a full queue are in `rejected`. */
export interface SentChunk {
  sent: number
  remaining: readonly BulkItem[]
  rejected: readonly BulkItem[]
}

/** A reindex copies a record once, so a second conflict is rare. */
const MAX_RECORD_ATTEMPTS = 5

/** Creates a sender of version records, which have one index, or two during a reindex. */
export function createVersionRecordSender(options: VersionRecordSenderOptions) {
  const { client, written, deadlineMs, targets, sendLines } = options
  return { send }

  /**
   * Sends the version records that fit into one request to every index of them, the one that is
   * read last. See `reindex.md`.
   */
  async function send(
    items: readonly BulkItem[],
    states: OptimisticConcurrency,
  ): Promise<SentChunk> {
    const chunk = firstChunk(items, (item) => actionLines(states, 'versionRecords', item, 0))
    const sent = items.slice(0, chunk.length)
    const rejectedAll = { sent: sent.length, remaining: items.slice(sent.length), rejected: sent }
    const [live = '', ...others] = targets()
    for (const index of others) if (!(await replaceRecords(index, sent))) return rejectedAll
    let rejected: readonly BulkItem[] = []
    if (others.length === 0) {
      const results = await sendLines(live, chunk)
      written.record(live, sent, results)
      rejected = sent.filter((item, at) => !checkAccepted(item, results[at]))
    } else if (!(await replaceRecords(live, sent))) return rejectedAll
    // A fence may have added an index during the request.
    for (const done = new Set([live, ...others]); ; ) {
      const index = targets().find((target) => !done.has(target))
      if (index === undefined) break
      if (!(await replaceRecords(index, sent))) return rejectedAll
      done.add(index)
    }
    return { ...rejectedAll, rejected }
  }

  /**
   * Writes records to an index that the transaction did not read: each replaces the state that is
   * there now. Only a copy of a reindex changes it meanwhile. Returns `false` for a full queue.
   * @throws like {@link checkAccepted}
   */
  async function replaceRecords(index: string, items: readonly BulkItem[]): Promise<boolean> {
    let pending = items
    for (let attempt = 1; pending.length > 0; attempt++) {
      const states = createOptimisticConcurrency()
      const docs = pending.map(({ address }) => address)
      const request = { index, docs, _source: false as const }
      for (const found of await readDocuments(client, deadlineMs, request)) {
        const state = documentState(found)
        if (state !== null) states.recordState('versionRecords', found._id, state)
      }
      const lines = pending.map((item) => actionLines(states, 'versionRecords', item, 0))
      const results = await sendLines(index, lines)
      if (index === targets()[0]) written.record(index, pending, results)
      const isLast = attempt === MAX_RECORD_ATTEMPTS
      pending = pending.filter((item, at) => {
        const result = results[at]
        if (!isLast && result !== undefined && outcomeOf(result) === 'conflict') return true
        return !checkAccepted(item, result)
      })
      if (results.some((result) => outcomeOf(result) === 'overloaded')) return false
    }
    return true
  }
}
