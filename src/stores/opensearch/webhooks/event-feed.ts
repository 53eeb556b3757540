import { isDeepStrictEqual } from 'node:util'
import { Unavailable } from '../../../lib/errors/unavailable.ts'
import type { DeliveryStore } from '../../../webhooks/deliveries/delivery-store.ts'
import {
  type EventRecord,
  firstSequence,
  withoutStates,
} from '../../../webhooks/events/event-record.ts'
import type { EventBacklog, EventFeed } from '../../../webhooks/webhook-stores.ts'
import { sendWrites } from '../client/bulk/send-writes.ts'
import { purgeMatching, writeMatching } from '../client/bulk/write-matching.ts'
import { IndexMissing } from '../client/errors.ts'
import {
  type FoundDocument,
  type IndexTarget,
  searchCurrent,
  searchRaw,
} from '../client/search/document-search.ts'
import type { EventRecordSource } from '../event-record-document.ts'
import type { ReportDamaged } from './damage-report.ts'

export interface EventFeedOptions {
  target: IndexTarget
  reportDamaged: ReportDamaged
  createDeliveries: DeliveryStore['create']
}

interface OpenRecord {
  id: string
  record: EventRecord
}

const MAX_PAGE_SIZE = 1_000
/** Each has up to seven clauses, of which OpenSearch allows 1,024 in a search. */
const ERASURES_PER_SEARCH = 100
const OPEN = { term: { fanned_out: false } }
const OLDEST_FIRST = [{ recorded_at: 'asc' }, { order_id: 'asc' }, { first_sequence: 'asc' }]
const BY_ORDER = [{ order_id: 'asc' }, { first_sequence: 'asc' }]

/**
 * Event records in a cluster. A record is open until its own field says that its deliveries exist.
 * A position in the index instead could skip a record that becomes searchable late.
 */
export function createOpenSearchEventFeed({
  target,
  reportDamaged,
  createDeliveries,
}: EventFeedOptions): EventFeed {
  const { index } = target

  function toOpenRecord({ id, source }: FoundDocument): OpenRecord[] {
    const { fanned_out, record } = Object(source) as Partial<EventRecordSource>
    if (fanned_out !== false) return []
    if (isEventRecord(record)) return [{ id, record }]
    reportDamaged(index, id)
    return []
  }

  /** At most `limit` open records as they are now; a search may still find marked ones. */
  async function findOpen(query: object, sort: readonly object[], limit: number) {
    const found: OpenRecord[] = []
    const pageSize = Math.min(limit, MAX_PAGE_SIZE)
    for await (const page of searchCurrent(target, { query, sort, pageSize })) {
      found.push(...page.flatMap(toOpenRecord))
      if (found.length >= limit) break
    }
    return found.slice(0, limit)
  }

  /** The oldest open records; with one of an order, all before it in the order's sequence. */
  async function findPage(limit: number): Promise<OpenRecord[]> {
    const oldest = await findOpen(OPEN, OLDEST_FIRST, limit)
    if (oldest.length < limit) return bySequence(oldest)
    // Earlier records of these orders can be after the page, where a writer's clock went back.
    const firstAfter = await firstSequencesAfter(oldest)
    const complete = oldest.filter(({ record }) => {
      const first = firstAfter.get(record.orderId)
      return first === undefined || firstSequence(record) < first
    })
    if (complete.length > 0) return bySequence(complete)
    const query = { bool: { filter: [OPEN, ofOrders(firstAfter.keys())] } }
    return findOpen(query, BY_ORDER, limit)
  }

  /** The first sequence of the open records after a page, of each order in the page. */
  async function firstSequencesAfter(page: readonly OpenRecord[]): Promise<Map<string, number>> {
    const values = page.map(({ id }) => id)
    const filter = [OPEN, ofOrders(page.map(({ record }) => record.orderId))]
    const aggs = {
      orders: {
        terms: { field: 'order_id', size: page.length },
        aggs: { first: { min: { field: 'first_sequence' } } },
      },
    }
    const query = { bool: { filter, must_not: [{ ids: { values } }] } }
    const { aggregations } = await searchRaw(target, { size: 0, query, aggs })
    const { buckets = [] } = Object(aggregations?.['orders']) as OrderBuckets
    return new Map(buckets.map(({ key, first }) => [key, first.value]))
  }

  /** Removes the states from the records of the orders that no account has any more. */
  async function forgetErased(page: readonly OpenRecord[]): Promise<void> {
    const erasures = page.filter(({ record }) => record.after === null)
    for (let start = 0; start < erasures.length; start += ERASURES_PER_SEARCH) {
      await forgetStates(erasures.slice(start, start + ERASURES_PER_SEARCH))
    }
  }

  async function forgetStates(erasures: readonly OpenRecord[]): Promise<void> {
    const should = erasures.map(({ record }) => {
      // Sequences start again after the loss of the version records.
      const sameInstant = [
        { term: { recorded_at: record.recordedAt } },
        { range: { first_sequence: { lte: firstSequence(record) } } },
      ]
      const isBefore = [
        { range: { recorded_at: { lt: record.recordedAt } } },
        { bool: { filter: sameInstant } },
      ]
      const filter = [{ term: { order_id: record.orderId } }, { bool: { should: isBefore } }]
      return { bool: { filter } }
    })
    await writeMatching(target, { query: { bool: { should } } }, ({ id, source, state }) => {
      const stored = Object(source) as EventRecordSource
      if (!isEventRecord(stored.record) || isForgotten(stored.record)) return null
      const kept: EventRecordSource = { ...stored, record: withoutStates(stored.record) }
      return { action: { index: { _id: id, ...state } }, source: kept }
    })
  }

  return {
    async next(limit) {
      const page = await findPage(limit)
      if (page.length === 0) return null
      return {
        records: page.map(({ record }) => record),
        async fanOut(deliveries) {
          const created = await createDeliveries(deliveries)
          await forgetErased(page) // Before the marks, so that it is repeated after a crash.
          const writes = page.map(({ id }) => ({
            action: { update: { _id: id } },
            source: { doc: { fanned_out: true } },
          }))
          const states = await sendWrites(target, writes)
          if (states.includes('conflict'))
            throw new Unavailable('another dispatcher marked the same event records')
          return created
        },
      }
    },

    async backlog() {
      try {
        return await readEventBacklog(target)
      } catch (error) {
        if (error instanceof IndexMissing) return { records: 0, oldestRecordedAt: null }
        throw error
      }
    },

    async purge(beforeMs) {
      const filter = [{ term: { fanned_out: true } }, { range: { recorded_at: { lt: beforeMs } } }]
      await purgeMatching(target, { bool: { filter } })
    },
  }
}

const isForgotten = (record: EventRecord) => isDeepStrictEqual(record, withoutStates(record))

interface OrderBuckets {
  buckets?: { key: string; first: { value: number } }[]
}

const ofOrders = (orderIds: Iterable<string>) => ({ terms: { order_id: [...new Set(orderIds)] } })

/** The records without deliveries. */
export async function readEventBacklog(target: IndexTarget): Promise<EventBacklog> {
  const aggs = { oldest: { min: { field: 'recorded_at' } } }
  const search = { size: 0, track_total_hits: true, query: OPEN, aggs }
  const { hits, aggregations } = await searchRaw(target, search)
  const { value = null } = Object(aggregations?.['oldest']) as { value?: number | null }
  return { records: hits?.total?.value ?? 0, oldestRecordedAt: value }
}

/** The records of each order together and in their sequence, the order with the oldest first. */
function bySequence(records: readonly OpenRecord[]): OpenRecord[] {
  const byOrder = Map.groupBy(records, ({ record }) => record.orderId)
  return [...byOrder.values()].flatMap((sameOrder) =>
    sameOrder.sort((one, other) => firstSequence(one.record) - firstSequence(other.record)),
  )
}

function isEventRecord(value: unknown): value is EventRecord {
  const { orderId, recordedAt, before, after, events } = Object(value) as Partial<EventRecord>
  return (
    typeof orderId === 'string' &&
    Number.isFinite(recordedAt) &&
    typeof before === 'object' &&
    typeof after === 'object' &&
    Array.isArray(events) &&
    events.length > 0 &&
    events.every(
      ({ sequence, type, accountIds }) =>
        Number.isSafeInteger(sequence) && typeof type === 'string' && Array.isArray(accountIds),
    )
  )
}
