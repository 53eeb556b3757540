import { renderDocument } from '../../../indexing/writer/order-document.ts'
import type {
  BulkWrites,
  OrderVersionRecord,
  ViewWrite,
  WriteMode,
} from '../../../indexing/writer/order-index.ts'
import { createMutex } from '../../../lib/mutex.ts'
import type { ViewKey } from '../../../orders/order-store.ts'
import { type EventRecord, firstSequence } from '../../../webhooks/events/event-record.ts'
import { eventRecordId, toEventRecordSource } from '../event-record-document.ts'
import { documentId, serializeDocument } from '../order-document-source.ts'
import { toVersionRecordSource } from '../version-record-document.ts'
import type { BulkItem } from './bulk-item.ts'
import type { BulkSender } from './bulk-sender.ts'
import type { Lease } from './lease.ts'
import type { OptimisticConcurrency } from './optimistic-concurrency.ts'

/** Commits one bulk at a time, and fences off requests of unknown outcome before the next one. */
export interface Committer {
  /** Fences requests of unknown outcome, and applies the requested write targets. */
  fence(): Promise<void>
  /**
   * Fences requests of unknown outcome. Returns the number of fences before the reads that follow.
   */
  fenceBeforeReads(): Promise<number>
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
  send,
}: {
  lease: Pick<Lease, 'fence' | 'hasPendingTargets' | 'recordLiveWrites'>
  send: BulkSender['send']
}): Committer {
  const orderMutex = createMutex()
  /** Whether a sent request may still arrive, also after its bulk failed. */
  let hasUnknownOutcome = false
  let fenceCount = 0

  /** Runs between two bulks. */
  async function fenceUnknownOutcome(): Promise<void> {
    if (!hasUnknownOutcome && !lease.hasPendingTargets()) return
    hasUnknownOutcome = false
    await trackOutcome(() => lease.fence())
    fenceCount++
  }

  async function trackOutcome(request: () => Promise<void>): Promise<void> {
    try {
      await request()
    } catch (error) {
      hasUnknownOutcome = true
      throw error
    }
  }

  /** Sends the documents; `false` when a fence was raised since the transaction read them. */
  const sendOrders = (
    items: readonly BulkItem[],
    states: OptimisticConcurrency,
    readAtFence: number,
    mode: WriteMode,
  ) =>
    orderMutex(async () => {
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

    async commit({ views, removals, eventRecords, versionRecords }, states, readAtFence, mode) {
      const items = [...views.map(viewItem), ...removals.map(removalItem)]
      if (!(await sendOrders(items, states, readAtFence, mode))) return false
      const events = eventRecords.map(eventRecordItem)
      await trackOutcome(() => send('eventRecords', events, states))
      const records = versionRecords.map(versionRecordItem)
      await trackOutcome(() => send('versionRecords', records, states))
      return true
    },
  }
}

const documentAddress = (view: ViewKey) => ({ _id: documentId(view), routing: view.accountId })

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
