import { type EventRecord, lastSequence } from '../../webhooks/events/event-record.ts'
import type { Change } from '../projection/change.ts'
import { type DecideOptions, viewKeys } from './decide.ts'
import type { ReadOrders, VersionRecords } from './decide-bulk.ts'
import type { EventRecordKey, IndexReader } from './order-index.ts'

/** Reads the documents and event records of the changes that have no result yet. */
export async function readOrders(
  reader: IndexReader,
  changes: readonly Change[],
  versions: Pick<ReadOrders, 'records' | 'decided' | 'nowMs'>,
  { policy }: DecideOptions,
): Promise<ReadOrders> {
  const { records, decided } = versions
  const pending = changes.filter(({ orderId }) => !decided.has(orderId))
  const accepted = pending.map(({ orderId }) => orderId)
  const candidates = await (policy === 'repair' ? reader.scan(accepted) : reader.orphans(accepted))
  const candidatesOf = Map.groupBy(candidates, ({ orderId }) => orderId)
  const keys = accepted.flatMap((orderId) =>
    viewKeys(orderId, records.get(orderId), candidatesOf.get(orderId) ?? []),
  )
  const [stored, announced] = await Promise.all([
    reader.views(keys),
    readAnnounced(reader, pending, records),
  ])
  return { ...versions, stored, ...announced }
}

/**
 * Reads what only accounts with a webhook endpoint need. The event records of every order, because
 * the account of a lost change may be in its event record alone: see `recording.md`.
 */
async function readAnnounced(
  reader: Pick<IndexReader, 'subscribers' | 'eventRecords'>,
  changes: readonly Change[],
  records: VersionRecords,
): Promise<Pick<ReadOrders, 'subscribers' | 'events'>> {
  const subscribers = await reader.subscribers()
  const events = new Map<string, EventRecord[]>()
  if (subscribers.size === 0) return { subscribers, events }
  let keys = changes.map(
    ({ orderId }): EventRecordKey => ({
      orderId,
      sequence: (records.get(orderId)?.announced?.sequence ?? 0) + 1,
    }),
  )
  while (keys.length > 0) {
    const found = await reader.eventRecords(keys)
    for (const record of found) {
      events.set(record.orderId, [...(events.get(record.orderId) ?? []), record])
    }
    keys = found.map((record) => ({
      orderId: record.orderId,
      sequence: lastSequence(record) + 1,
    }))
  }
  return { subscribers, events }
}
