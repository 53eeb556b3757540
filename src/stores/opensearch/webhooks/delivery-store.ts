import type {
  Delivery,
  DeliveryBacklog,
  DeliveryStore,
  StoredDelivery,
} from '../../../webhooks/deliveries/delivery.ts'
import { readDocument } from '../client/documents.ts'
import { removeMatching, sendItems, writeMatching } from './bulk.ts'
import type { ReportDamaged } from './damaged-documents.ts'
import { damagedDelivery, deliverySource, parseDelivery, revisionOf } from './delivery-document.ts'
import { type DeliveryTransition, transitions } from './delivery-transitions.ts'
import {
  type FoundDocument,
  type IndexTarget,
  refreshIndex,
  searchCurrent,
  searchRaw,
} from './search.ts'

export interface DeliveryStoreOptions {
  target: IndexTarget
  reportDamaged: ReportDamaged
  /** The instant of the oldest event record without deliveries; `null` without one. */
  oldestOpenRecordAt(): Promise<number | null>
}

const MAX_PAGE_SIZE = 1_000
const PENDING = { term: { state: 'pending' } }
const OPEN = { terms: { state: ['pending', 'held'] } }
/** A test event has no sequence, and the key of a page cannot be the sentinel of a missing number. */
const BY_SEQUENCE = { sequence: { order: 'asc', missing: 0 } }
const NEWEST_FIRST = [{ recorded_at: 'desc' }, { sequence: { order: 'desc', missing: 0 } }]
const BY_DUE = [{ next_at: 'asc' }, { recorded_at: 'asc' }, BY_SEQUENCE]

/** Deliveries in a cluster, each the document of its id. */
export function createOpenSearchDeliveryStore({
  target,
  reportDamaged,
  oldestOpenRecordAt,
}: DeliveryStoreOptions): DeliveryStore {
  const { client, index, deadlineMs } = target

  function toStored({ id, source, state }: FoundDocument): StoredDelivery | null {
    const delivery = parseDelivery(id, source)
    if (delivery === null) reportDamaged(index, id)
    return delivery && { ...delivery, revision: state }
  }

  /**
   * The first deliveries of a search that still match as they are now. So a delivery that was saved
   * a moment ago is never returned in its earlier state.
   */
  async function findCurrent(
    query: object,
    sort: readonly object[],
    limit: number,
    matches: (delivery: Delivery) => boolean,
  ): Promise<StoredDelivery[]> {
    const found: StoredDelivery[] = []
    if (limit <= 0) return found
    const pageSize = Math.min(limit, MAX_PAGE_SIZE)
    for await (const page of searchCurrent(target, { query, sort, pageSize })) {
      const current = page.map(toStored).filter((delivery) => delivery !== null)
      found.push(...current.filter(matches))
      if (found.length >= limit) break
    }
    return found.slice(0, limit)
  }

  function transition({ query, apply }: DeliveryTransition): Promise<number> {
    return writeMatching(target, query, (document) => {
      const delivery = toStored(document)
      if (delivery === null) return null
      return {
        action: { index: { _id: delivery.id, ...document.state } },
        source: deliverySource(apply(delivery)),
      }
    })
  }

  return {
    async create(deliveries) {
      const items = deliveries.map((delivery) => ({
        action: { create: { _id: delivery.id } },
        source: deliverySource(delivery),
      }))
      // With a refresh, since the first attempt of each is due now.
      const states = await sendItems(target, items, { refresh: true })
      return deliveries.map((delivery, at) => {
        const revision = states[at]
        return typeof revision === 'object' ? { ...delivery, revision } : null
      })
    },

    async byId(id) {
      const found = await readDocument(client, deadlineMs, { index, id })
      if (found === null) return null
      const delivery = parseDelivery(id, found.source)
      if (delivery === null) throw damagedDelivery(index, id)
      return { ...delivery, revision: found.state }
    },

    async list({ endpointId, states, limit }) {
      await refreshIndex(target)
      const filter = [
        { term: { endpoint_id: endpointId } },
        ...(states === undefined ? [] : [{ terms: { state: states } }]),
      ]
      return findCurrent(
        { bool: { filter } },
        NEWEST_FIRST,
        limit,
        ({ state }) => states?.includes(state) ?? true,
      )
    },

    async due({ endpointId, nowMs, limit, excludedOrders, excludedIds }) {
      const query = {
        bool: {
          filter: [
            PENDING,
            { term: { endpoint_id: endpointId } },
            { range: { next_at: { lte: nowMs } } },
          ],
          must_not: [{ terms: { order_id: excludedOrders } }, { ids: { values: excludedIds } }],
        },
      }
      const due = await findCurrent(query, BY_DUE, limit, ({ nextAt }) => isDue(nextAt, nowMs))
      return due.sort(compareDue)
    },

    async nextDueAt(endpointId) {
      const filter = [PENDING, { term: { endpoint_id: endpointId } }]
      const search = { query: { bool: { filter } }, sort: BY_DUE, pageSize: NEXT_DUE_PAGE_SIZE }
      let earliest: number | null = null
      for await (const page of searchCurrent(target, search)) {
        for (const document of page) {
          const nextAt = toStored(document)?.nextAt ?? null
          if (nextAt !== null) earliest = Math.min(earliest ?? nextAt, nextAt)
          // Only a changed document may be due at another instant than the search found.
          if (nextAt !== null && !document.isChanged) return earliest
        }
      }
      return earliest
    },

    async nextDueByEndpoint() {
      const due = new Map<string, number>()
      for (let after: object | undefined; ; ) {
        const { buckets, after_key } = await dueBuckets(after)
        for (const { key, next } of buckets) {
          if (next.value !== null) due.set(key.endpoint, next.value)
        }
        if (after_key === undefined || buckets.length < MAX_PAGE_SIZE) return due
        after = after_key
      }
    },

    failingSince(endpointId, sinceMs, limit) {
      const filter = [
        PENDING,
        { term: { endpoint_id: endpointId } },
        { range: { first_failed_at: { gte: sinceMs } } },
      ]
      const sort = [{ recorded_at: 'asc' }, BY_SEQUENCE]
      return findCurrent(
        { bool: { filter } },
        sort,
        limit,
        ({ state, firstFailedAt }) =>
          state === 'pending' && firstFailedAt !== null && firstFailedAt >= sinceMs,
      )
    },

    async save(deliveries) {
      const items = deliveries.map((delivery) => ({
        action: { index: { _id: delivery.id, ...revisionOf(delivery) } },
        source: deliverySource(delivery),
      }))
      const states = await sendItems(target, items)
      return deliveries.map((delivery, at) => {
        const revision = states[at]
        return typeof revision === 'object' ? { ...delivery, revision } : null
      })
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
    async forgetOrder(...order) {
      await transition(transitions.forgetOrder(...order))
    },
    async purgeExcerpts(beforeMs) {
      await transition(transitions.purgeExcerpts(beforeMs))
    },

    async backlog(nowMs): Promise<DeliveryBacklog> {
      const { hits, aggregations } = await searchRaw(target, {
        size: 0,
        track_total_hits: true,
        query: { bool: { filter: [PENDING, { range: { next_at: { lte: nowMs } } }] } },
        aggs: { oldest: { min: { field: 'next_at' } } },
      })
      const { value = null } = Object(aggregations?.['oldest']) as { value?: number | null }
      return { due: hits?.total?.value ?? 0, oldestDueAt: value }
    },

    async purge(beforeMs) {
      // A crash between the deliveries and the mark of their record repeats its fan-out, which must
      // find them: a purged delivery would be created and sent again.
      const openAt = await oldestOpenRecordAt()
      const recorded = { lt: Math.min(beforeMs, openAt ?? Infinity) }
      const filter = [{ range: { recorded_at: recorded } }]
      await removeMatching(target, { bool: { filter, must_not: [OPEN] } })
    },
  }

  async function dueBuckets(after: object | undefined): Promise<DueBuckets> {
    const endpoints = {
      size: MAX_PAGE_SIZE,
      sources: [{ endpoint: { terms: { field: 'endpoint_id' } } }],
      ...(after && { after }),
    }
    const aggs = {
      endpoints: { composite: endpoints, aggs: { next: { min: { field: 'next_at' } } } },
    }
    const { aggregations } = await searchRaw(target, { size: 0, query: PENDING, aggs })
    return { buckets: [], ...(Object(aggregations?.['endpoints']) as Partial<DueBuckets>) }
  }
}

/** Hits that changed since the last refresh are few. */
const NEXT_DUE_PAGE_SIZE = 100

interface DueBuckets {
  buckets: { key: { endpoint: string }; next: { value: number | null } }[]
  after_key?: object
}

/** Only a pending delivery has an instant. */
const isDue = (nextAt: number | null, nowMs: number) => nextAt !== null && nextAt <= nowMs

/** The order of the search, for deliveries that changed since. */
function compareDue(one: Delivery, other: Delivery): number {
  return (
    (one.nextAt ?? 0) - (other.nextAt ?? 0) ||
    one.event.recordedAt - other.event.recordedAt ||
    (one.event.sequence ?? 0) - (other.event.sequence ?? 0)
  )
}
