import { isDeepStrictEqual } from 'node:util'
import type { Random } from '../../../../../src/demo/random.ts'
import { mapTransactions, type OrderIndex } from '../../../../../src/indexing/writer/order-index.ts'
import type { OrderVersionRecord } from '../../../../../src/indexing/writer/version-record.ts'
import type { Clock } from '../../../../../src/lib/clock.ts'
import { createSubscriberLookup } from '../../../../../src/webhooks/endpoints/endpoint-directory.ts'
import type { EventRecord } from '../../../../../src/webhooks/events/event-record.ts'
import type { SeenRecord } from '../checks/check-records.ts'
import type { Trace } from '../checks/trace.ts'
import type { WalkStores } from '../walk-stores.ts'
import { createCrashingWriters } from './crashing-writers.ts'
import { createRecording, type Recording } from './recording.ts'
import type { SourceHistory } from './source-history.ts'

/** The writers of a walk, and what they sent to the store. */
export interface OrderWriting {
  recording: Recording
  /** Writes everything, and ends all writers, also those that are frozen. */
  settle(): Promise<void>
  /** A stored record as a writer sent it: an erasure removes the states from stored ones. */
  asSent(record: EventRecord): SeenRecord
  /** Those of all orders, once the writers have ended. */
  versionRecords(): Promise<Map<string, OrderVersionRecord>>
}

export interface OrderWritingOptions {
  random: Random
  clock: Clock
  stores: WalkStores
  history: SourceHistory
  trace: Trace
}

const CRASH_CHANCE = 0.15

/** Creates the writers of a walk, none of which is open yet. */
export function createOrderWriting(options: OrderWritingOptions): OrderWriting {
  const { random, clock, stores, history, trace } = options
  const sentRecords: SeenRecord[] = []
  const subscribers = createSubscriberLookup(stores.webhooks.endpoints, clock)
  // Write timestamps do not follow the clock of the walk, which jumps ahead of the store's.
  const startMs = clock()
  const openIndex = () => stores.openIndex(() => startMs)

  async function openObserved(): Promise<OrderIndex> {
    return mapTransactions(await openIndex(), (transaction) => ({
      ...transaction,
      subscribers,
      async commit(writes, mode) {
        for (const record of writes.eventRecords) {
          const events = record.events.map(({ sequence, type }) => `${sequence} ${type}`)
          trace.note([record.orderId], `records v${record.version}: ${events.join(', ')}`)
          sentRecords.push({ ...record, seenAt: recording.writeCount() })
        }
        return transaction.commit(writes, mode)
      },
    }))
  }

  const writers = createCrashingWriters({
    open: openObserved,
    clock,
    random,
    isAtomic: stores.isAtomic,
    onCrash: (ids, written) => trace.note(ids, `the writer dies and has written ${written}`),
  })
  const recording = createRecording({
    random,
    clock,
    history,
    writers,
    trace,
    crashChance: CRASH_CHANCE,
    hasSilentWrites: random.chance(0.4),
    onWritten: async () => {},
  })
  const identityOf = ({ orderId, version, recordedAt, events }: EventRecord) => {
    return [orderId, version, recordedAt, events]
  }

  return {
    recording,
    async settle() {
      await recording.settle()
      await writers.end()
    },
    asSent(record) {
      const sent = sentRecords.find((candidate) =>
        isDeepStrictEqual(identityOf(candidate), identityOf(record)),
      )
      return sent ?? { ...record, seenAt: 0 }
    },
    versionRecords: async () => readVersionRecords(await openIndex(), history.orderIds()),
  }
}

/** The version records of orders. Closes the index. */
export async function readVersionRecords(
  index: OrderIndex,
  orderIds: readonly string[],
): Promise<Map<string, OrderVersionRecord>> {
  const lock = await index.lock(orderIds)
  const found = await (await lock.begin()).versionRecords(orderIds)
  lock.release()
  await index.close()
  return found
}
