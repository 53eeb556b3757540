import type { Delivery, StoredDelivery } from '../../../webhooks/deliveries/delivery.ts'
import type { DeliverySearch } from '../../../webhooks/deliveries/delivery-store.ts'
import {
  type FoundDocument,
  type IndexTarget,
  refreshIndex,
  searchCurrent,
  searchRaw,
} from '../client/search/document-search.ts'
import type { ReportDamaged } from './damage-report.ts'
import { parseDelivery, storedDelivery } from './delivery-document.ts'
import { afterDelivery, FIRST_EVENT_FIRST, LAST_EVENT_FIRST } from './delivery-position.ts'
import type { Visibility } from './visibility.ts'

export interface DeliverySearchOptions {
  target: IndexTarget
  visibility: Pick<Visibility, 'ensure'>
  reportDamaged: ReportDamaged
}

const MAX_PAGE_SIZE = 1_000
/** A page reads all pending deliveries, so few pages. A node accepts 65,535 buckets. */
const BUCKETS = 10_000
/** Hits that changed since the last refresh are few. */
const NEXT_DUE_PAGE_SIZE = 20
const PENDING = { term: { state: 'pending' } }
const HELD = { term: { state: 'held' } }
/** No two deliveries are equal. */
const NEWEST_FIRST = [...LAST_EVENT_FIRST, { delivery_id: 'desc' }]
const BY_DUE = [{ next_at: 'asc' }, ...FIRST_EVENT_FIRST]

const ofEndpoint = (id: string) => ({ term: { endpoint_id: id } })

/** The delivery of a document; a damaged one is reported, so that it stops no other. */
export function intactDelivery(
  { id, source, state }: FoundDocument,
  { target, reportDamaged }: Pick<DeliverySearchOptions, 'target' | 'reportDamaged'>,
): StoredDelivery | null {
  const delivery = parseDelivery(id, source)
  if (delivery === null) reportDamaged(target.index, id)
  return delivery && storedDelivery(delivery, state)
}

/**
 * Creates the searches. A search may find a delivery in the version before its last save. So each
 * hit is read again before it is returned, and a stored success is never sent again.
 */
export function createOpenSearchDeliverySearch(options: DeliverySearchOptions): DeliverySearch {
  const { target, visibility } = options

  /** The first deliveries of a search that still match as they are now. */
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
      const current = page.map((document) => intactDelivery(document, options))
      found.push(...current.filter((delivery) => delivery !== null).filter(matches))
      if (found.length >= limit) break
    }
    return found.slice(0, limit)
  }

  /** All endpoints with a delivery of this query, with the first instant that one is due. */
  async function byEndpoint(query: object): Promise<EndpointBucket[]> {
    await visibility.ensure('all')
    const found: EndpointBucket[] = []
    for (let after: object | undefined; ; ) {
      const { buckets, after_key } = await endpointBuckets(query, after)
      found.push(...buckets)
      if (after_key === undefined || buckets.length < BUCKETS) return found
      after = after_key
    }
  }

  async function endpointBuckets(
    query: object,
    after: object | undefined,
  ): Promise<EndpointBuckets> {
    const endpoints = {
      size: BUCKETS,
      sources: [{ endpoint: { terms: { field: 'endpoint_id' } } }],
      ...(after && { after }),
    }
    const aggs = {
      endpoints: { composite: endpoints, aggs: { next: { min: { field: 'next_at' } } } },
    }
    const { aggregations } = await searchRaw(target, { size: 0, query, aggs })
    return { buckets: [], ...(Object(aggregations?.['endpoints']) as Partial<EndpointBuckets>) }
  }

  return {
    async list({ endpointId, states, limit, after }) {
      await refreshIndex(target) // An operator also sees what another process wrote.
      const filter = [
        ofEndpoint(endpointId),
        ...(states === undefined ? [] : [{ terms: { state: states } }]),
        ...(after === undefined ? [] : [afterDelivery(after)]),
      ]
      return findCurrent(
        { bool: { filter } },
        NEWEST_FIRST,
        limit,
        ({ state }) => states?.includes(state) ?? true,
      )
    },

    async due({ endpointId, nowMs, limit, excludedOrders, excludedIds }) {
      await visibility.ensure('newly-pending')
      const filter = [PENDING, ofEndpoint(endpointId), { range: { next_at: { lte: nowMs } } }]
      const excluded = [{ terms: { order_id: excludedOrders } }, { ids: { values: excludedIds } }]
      const query = { bool: { filter, must_not: excluded } }
      const due = await findCurrent(query, BY_DUE, limit, ({ nextAt }) => isDue(nextAt, nowMs))
      return due.sort(compareDue)
    },

    async nextDueAt(endpointId) {
      await visibility.ensure('newly-pending')
      const query = { bool: { filter: [PENDING, ofEndpoint(endpointId)] } }
      const search = { query, sort: BY_DUE, pageSize: NEXT_DUE_PAGE_SIZE }
      let earliest: number | null = null
      for await (const page of searchCurrent(target, search)) {
        for (const document of page) {
          const nextAt = intactDelivery(document, options)?.nextAt ?? null
          if (nextAt === null) continue
          earliest = Math.min(earliest ?? nextAt, nextAt)
          // Only a changed document may be due at another instant than the search found.
          if (!document.isChanged) return earliest
        }
      }
      return earliest
    },

    async nextDueByEndpoint() {
      const due = new Map<string, number>()
      for (const { key, next } of await byEndpoint(PENDING)) {
        if (next.value !== null) due.set(key.endpoint, next.value)
      }
      return due
    },

    async heldEndpoints() {
      return (await byEndpoint(HELD)).map(({ key }) => key.endpoint)
    },

    async failingSince(endpointId, sinceMs, limit) {
      // A lane reads this first after a change, for which another process may have made some
      // pending.
      await visibility.ensure('any')
      const isFailing = { range: { first_failed_at: { gte: sinceMs } } }
      return findCurrent(
        { bool: { filter: [PENDING, ofEndpoint(endpointId), isFailing] } },
        FIRST_EVENT_FIRST,
        limit,
        ({ state, firstFailedAt }) =>
          state === 'pending' && firstFailedAt !== null && firstFailedAt >= sinceMs,
      )
    },

    async backlog(nowMs) {
      await visibility.ensure('all')
      const { hits, aggregations } = await searchRaw(target, {
        size: 0,
        track_total_hits: true,
        query: { bool: { filter: [PENDING, { range: { next_at: { lte: nowMs } } }] } },
        aggs: { oldest: { min: { field: 'next_at' } } },
      })
      const { value = null } = Object(aggregations?.['oldest']) as { value?: number | null }
      return { due: hits?.total?.value ?? 0, oldestDueAt: value }
    },
  }
}

interface EndpointBucket {
  key: { endpoint: string }
  next: { value: number | null }
}

interface EndpointBuckets {
  buckets: EndpointBucket[]
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
