import type { Delivery, StoredDelivery } from '../../../webhooks/deliveries/delivery.ts'
import type { DeliveryStore } from '../../../webhooks/deliveries/delivery-store.ts'
import { sendWrites } from '../client/bulk/send-writes.ts'
import { purgeMatching, writeMatching } from '../client/bulk/write-matching.ts'
import { documentState } from '../client/documents/document-state.ts'
import { readDocument, readDocuments } from '../client/documents/read-documents.ts'
import { damagedDocument } from '../client/errors.ts'
import {
  type FoundDocument,
  type IndexTarget,
  refreshIndex,
} from '../client/search/document-search.ts'
import { MARKER_ID, writeMarker } from '../client/search/linearizable-search.ts'
import type { ReportDamaged } from './damage-report.ts'
import { deliverySource, parseDelivery, revisionOf, storedDelivery } from './delivery-document.ts'
import { createOpenSearchDeliverySearch, intactDelivery } from './delivery-search.ts'
import { type DeliveryTransition, transitions } from './delivery-transitions.ts'
import { createVisibility } from './visibility.ts'

export interface DeliveryStoreOptions {
  target: IndexTarget
  reportDamaged: ReportDamaged
  /** The instant of the oldest event record without deliveries; `null` without one. */
  oldestOpenRecordAt(): Promise<number | null>
}

/** Each has up to eight clauses, of which OpenSearch allows 1,024 in a search. */
const REMOVALS_PER_SEARCH = 100

const OPEN = { terms: { state: ['pending', 'held'] } }

/**
 * Deliveries in a cluster, each the document of its id. A read sees the earlier writes of this
 * process, and those of others at the next refresh.
 */
export function createOpenSearchDeliveryStore(options: DeliveryStoreOptions): DeliveryStore {
  const { target, oldestOpenRecordAt } = options
  const { client, index, deadlineMs } = target
  const visibility = createVisibility(() => refreshIndex(target))

  function transition({ apply, ...matching }: DeliveryTransition): Promise<number> {
    const change = (document: FoundDocument) => {
      const delivery = intactDelivery(document, options)
      const changed = delivery && apply(delivery)
      if (changed === null) return null
      return {
        action: { index: { _id: changed.id, ...document.state } },
        source: deliverySource(changed),
      }
    }
    return visibility.write(true, () => writeMatching(target, matching, change))
  }

  /** Returns each as it is stored now; `null` for one whose write met a conflict. */
  async function writeAll(
    deliveries: readonly Delivery[],
    makesPending: boolean,
    actionOf: (delivery: Delivery, at: number) => object,
  ): Promise<(StoredDelivery | null)[]> {
    const writes = deliveries.map((delivery, at) => ({
      action: actionOf(delivery, at),
      source: deliverySource(delivery),
    }))
    const states = await visibility.write(makesPending, () => sendWrites(target, writes))
    return deliveries.map((delivery, at) => {
      const state = states[at]
      return typeof state === 'object' ? storedDelivery(delivery, state) : null
    })
  }

  return {
    ...createOpenSearchDeliverySearch({ ...options, visibility }),
    async create(deliveries) {
      const created = await writeAll(deliveries, true, ({ id }) => ({ create: { _id: id } }))
      // A node may show a delivery that no other node has, and its event is marked as done next.
      if (created.includes(null)) await writeMarker(target)
      return created
    },

    async byId(id) {
      const found = await readDocument(client, deadlineMs, { index, id })
      if (found === null || id === MARKER_ID) return null
      const delivery = parseDelivery(id, found.source)
      if (delivery === null) throw damagedDocument(index, id)
      return storedDelivery(delivery, found.state)
    },

    async byIds(ids) {
      const docs = ids.map((id) => ({ _id: id }))
      const documents = await readDocuments(client, deadlineMs, { index, docs })
      return documents.map((document) => {
        const state = documentState(document)
        if (!document.found || state === null) return null
        return intactDelivery({ id: document._id, source: document._source, state }, options)
      })
    },

    async save(deliveries) {
      const revisions = deliveries.map(revisionOf)
      const isNewlyPending = deliveries.some(
        ({ state }, at) => state === 'pending' && revisions[at]?.wasPending === false,
      )
      return writeAll(deliveries, isNewlyPending, ({ id }, at) => ({
        index: { _id: id, ...revisions[at]?.state },
      }))
    },

    async limitInstants(latest) {
      await transition(transitions.limitInstants(latest))
    },
    hold: (endpointId, nowMs) => transition(transitions.hold(endpointId, nowMs)),
    releaseHeld: (endpointId, nowMs) => transition(transitions.releaseHeld(endpointId, nowMs)),
    replay: (query) => transition(transitions.replay(query)),
    async cancel(endpointId) {
      await transition(transitions.cancel(endpointId))
    },
    async expireHeld(beforeMs) {
      await transition(transitions.expireHeld(beforeMs))
    },
    async forgetOrders(removals) {
      for (let start = 0; start < removals.length; start += REMOVALS_PER_SEARCH) {
        const some = removals.slice(start, start + REMOVALS_PER_SEARCH)
        await transition(transitions.forgetOrders(some))
      }
    },
    async purgeExcerpts(beforeMs) {
      await transition(transitions.purgeExcerpts(beforeMs))
    },

    async purge(beforeMs) {
      // After a crash between the deliveries and the mark of their record, the fan-out is repeated.
      // It would create and send a purged delivery again.
      const openAt = await oldestOpenRecordAt()
      const recorded = { lt: Math.min(beforeMs, openAt ?? Infinity) }
      const filter = [{ range: { recorded_at: recorded } }]
      await purgeMatching(target, { bool: { filter, must_not: [OPEN] } })
    },
  }
}
