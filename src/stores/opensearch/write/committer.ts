import { renderDocument } from '../../../indexing/writer/order-document.ts'
import type { BulkWrites, ViewWrite, WriteMode } from '../../../indexing/writer/order-index.ts'
import type { OrderVersionRecord } from '../../../indexing/writer/version-record.ts'
import { createMutex } from '../../../lib/async/mutex.ts'
import type { ViewKey } from '../../../orders/order-store.ts'
import { type EventRecord, firstSequence } from '../../../webhooks/events/event-record.ts'
import { eventRecordId, toEventRecordSource } from '../event-record-document.ts'
import { documentAddress, serializeDocument } from '../order-documents/order-document-source.ts'
import { toVersionRecordSource } from '../version-record-document.ts'
import type { BulkItem } from './bulk-item.ts'
import type { BulkSender } from './bulk-sender.ts'
import type { Lease } from './lease/lease.ts'
import type { OptimisticConcurrency } from './optimistic-concurrency.ts'
import type { WrittenStates } from './written-states.ts'

/** Commits one bulk at a time, and fences off requests of unknown outcome before the next one. */
export interface Committer {
  /** Fences requests of unknown outcome, and applies the requested write targets. */
  fence(): Promise<void>
  /**
   * Fences requests of unknown outcome. Returns the number of fences before the reads that follow.
   */
  fenceBeforeReads(): Promise<number>
  /** Raises a fence before the next read or bulk. */
  requireFence(): void
  /** Whether a fence was raised since the reads at `readAtFence`, after the running one, if any. */
  isOvertaken(readAtFence: number): Promise<boolean>
  /**
   * Sends the documents, then the event records, then the version records, each after the ones
   * before are confirmed. Returns `false` when a fence was raised since the reads at `readAtFence`.
   * @throws like {@link BulkSender}; the outcome is unknown then
   */
  commit(
    writes: BulkWrites,
    states: OptimisticConcurrency,
    readAtFence: number,
    mode: WriteMode,
  ): Promise<boolean>
}

/** Creates a committer for the holder of `lease`. Fences and bulks of orders share one mutex. */
export function createCommitter({
  lease,
  written,
  send,
}: {
  lease: Pick<Lease, 'fence' | 'hasPendingTargets' | 'recordLiveWrites' | 'lastWriteTimestamp'>
  written: Pick<WrittenStates, 'isFull' | 'clear'>
  send: BulkSender['send']
}): Committer {
  const orderMutex = createMutex()
  /** Whether a sent request may still arrive, also after its bulk failed. */
  let hasUnknownOutcome = false
  let fenceCount = 0
  /** Bulks of records, which need no mutex: each commits one transaction. */
  const recordBulks = new Set<Promise<void>>()

  /** Runs between two bulks of orders. */
  async function fenceUnknownOutcome(): Promise<void> {
    if (!hasUnknownOutcome && !lease.hasPendingTargets()) return
    hasUnknownOutcome = false
    written.clear() // Not afterwards: records of the new epoch may be written meanwhile.
    await trackOutcome(() => lease.fence())
    fenceCount++
  }

  /** No bulk has failed, so this fence interrupts none. */
  async function fenceFullStates(): Promise<void> {
    if (!written.isFull()) return
    await Promise.allSettled(recordBulks)
    hasUnknownOutcome = true
  }

  async function trackOutcome(request: () => Promise<void>): Promise<void> {
    try {
      await request()
    } catch (error) {
      hasUnknownOutcome = true
      throw error
    }
  }

  async function trackRecords(request: () => Promise<void>): Promise<void> {
    const bulk = trackOutcome(request)
    recordBulks.add(bulk)
    await bulk.finally(() => recordBulks.delete(bulk))
  }

  /** Sends the documents; `false` when a fence was raised since the transaction read them. */
  const sendOrders = (
    items: readonly BulkItem[],
    states: OptimisticConcurrency,
    readAtFence: number,
    mode: WriteMode,
  ) =>
    orderMutex(async () => {
      await fenceFullStates()
      await fenceUnknownOutcome()
      if (fenceCount !== readAtFence) return false
      if (mode === 'live' && items.length > 0) await lease.recordLiveWrites()
      await trackOutcome(() => send('orders', items, states))
      return true
    })

  return {
    fence: () => orderMutex(fenceUnknownOutcome),

    async fenceBeforeReads() {
      if (hasUnknownOutcome) await orderMutex(fenceUnknownOutcome)
      return fenceCount
    },

    requireFence() {
      hasUnknownOutcome = true
    },

    isOvertaken: (readAtFence) => orderMutex(async () => fenceCount !== readAtFence),

    async commit({ views, removals, eventRecords, versionRecords }, states, readAtFence, mode) {
      const items = [...views.map(viewItem), ...removals.map(removalItem)]
      if (!(await sendOrders(items, states, readAtFence, mode))) return false
      const writtenKey = lease.lastWriteTimestamp()
      // A preparation keeps the timestamp of its record, since it confirms no documents.
      const records = versionRecords.map((record) => versionRecordItem({ writtenKey, ...record }))
      await trackRecords(async () => {
        await send('eventRecords', eventRecords.map(eventRecordItem), states)
        await send('versionRecords', records, states)
      })
      return true
    },
  }
}

function viewItem(view: ViewWrite): BulkItem {
  const source = (writeTimestamp: number) => serializeDocument(renderDocument(view, writeTimestamp))
  return { orderId: view.orderId, address: documentAddress(view), source }
}

function removalItem(view: ViewKey): BulkItem {
  return { orderId: view.orderId, address: documentAddress(view) }
}

function eventRecordItem(record: EventRecord): BulkItem {
  const { orderId } = record
  const _id = eventRecordId({ orderId, sequence: firstSequence(record) })
  return { orderId, address: { _id }, source: () => JSON.stringify(toEventRecordSource(record)) }
}

function versionRecordItem(versionRecord: OrderVersionRecord): BulkItem {
  const { orderId } = versionRecord
  return {
    orderId,
    address: { _id: orderId },
    source: () => JSON.stringify(toVersionRecordSource(versionRecord)),
  }
}
