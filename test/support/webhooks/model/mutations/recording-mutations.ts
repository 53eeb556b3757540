import type { Change } from '../../../../../src/indexing/projection/change.ts'
import { isReadable } from '../../../../../src/indexing/writer/found-views.ts'
import { storedOrder } from '../../../../../src/indexing/writer/order-document.ts'
import {
  type BulkWrites,
  mapTransactions,
  type Transaction,
} from '../../../../../src/indexing/writer/order-index.ts'
import type { OrderVersionRecord } from '../../../../../src/indexing/writer/version-record.ts'
import { stateOf } from '../../../../../src/webhooks/events/order-state.ts'
import type { Invariant } from '../checks/violation.ts'
import type { MutateIndex } from '../writing/crashing-writers.ts'

/** A writer with one fault, and the invariant that it breaks. */
export interface RecordingMutation {
  name: string
  invariant: Invariant
  mutate: MutateIndex
}

const NOTHING: BulkWrites = { views: [], removals: [], eventRecords: [], versionRecords: [] }

/** Faulty writers, each of which the model must find. They need a store that splits its bulks. */
export const recordingMutations: readonly RecordingMutation[] = [
  {
    name: 'identifies event records by version instead of sequence',
    invariant: 1,
    mutate: mutateTransactions((transaction, changes) => ({
      async eventRecords(keys) {
        const found = await transaction.eventRecords(keys)
        const isOfBulk = (orderId: string, version: number) =>
          changes.some((change) => change.orderId === orderId && change.version === version)
        return found.filter(({ orderId, version }) => isOfBulk(orderId, version))
      },
    })),
  },
  {
    name: 'takes the state before from the stored view',
    invariant: 1,
    mutate: mutateTransactions((transaction) => ({
      async versionRecords(orderIds) {
        const records = await transaction.versionRecords(orderIds)
        const withState = await Promise.all(
          [...records.values()].map((record) => withStateOfView(transaction, record)),
        )
        return new Map(withState.map((record) => [record.orderId, record]))
      },
    })),
  },
  {
    name: 'reads no event records after a crash',
    invariant: 1,
    mutate: mutateTransactions(() => ({ eventRecords: async () => [] })),
  },
  {
    name: 'numbers the events of a version in reverse',
    invariant: 1,
    mutate: mutateCommits((writes) => [
      {
        ...writes,
        eventRecords: writes.eventRecords.map((record) => {
          const sequences = record.events.map(({ sequence }) => sequence).reverse()
          const events = record.events.map((event, at) => {
            return { ...event, sequence: sequences[at] ?? event.sequence }
          })
          return { ...record, events }
        }),
      },
    ]),
  },
  {
    name: 'writes event records before the documents',
    invariant: 2,
    mutate: mutateCommits(({ eventRecords, ...rest }) => [
      { ...NOTHING, eventRecords },
      { ...rest, eventRecords: [] },
    ]),
  },
  {
    name: 'writes version records before the event records',
    invariant: 3,
    mutate: mutateCommits(({ eventRecords, ...rest }) => [
      { ...rest, eventRecords: [] },
      { ...NOTHING, eventRecords },
    ]),
  },
  {
    name: 'announces no removal',
    invariant: 3,
    mutate: mutateCommits((writes) => [
      {
        ...writes,
        eventRecords: writes.eventRecords.map((record) => ({
          ...record,
          events: record.events.map((event) =>
            event.type === 'order.removed' ? { ...event, accountIds: [] } : event,
          ),
        })),
      },
    ]),
  },
  {
    name: 'announces every version to the accounts that see it',
    invariant: 3,
    mutate: mutateTransactions((transaction) => ({
      async versionRecords(orderIds) {
        const records = await transaction.versionRecords(orderIds)
        return new Map([...records].map(([orderId, record]) => [orderId, withoutDigests(record)]))
      },
    })),
  },
]

function mutateTransactions(
  map: (transaction: Transaction, changes: readonly Change[]) => Partial<Transaction>,
): MutateIndex {
  return (index, changes) =>
    mapTransactions(index, (transaction) => ({ ...transaction, ...map(transaction, changes) }))
}

/** Replaces each commit with several, between which the writer may die. */
function mutateCommits(split: (writes: BulkWrites) => BulkWrites[]): MutateIndex {
  return mutateTransactions((transaction) => ({
    async commit(writes, mode) {
      for (const part of split(writes)) await transaction.commit(part, mode)
      return true
    },
  }))
}

async function withStateOfView(
  transaction: Transaction,
  record: OrderVersionRecord,
): Promise<OrderVersionRecord> {
  const { orderId, accountIds, announced } = record
  const views = await transaction.views(accountIds.map((accountId) => ({ accountId, orderId })))
  const [view] = views.filter(isReadable)
  if (!announced?.tracked || view === undefined) return record
  const state = stateOf(storedOrder(view), announced.lastPaymentId)
  return { ...record, announced: { ...announced, tracked: { ...announced.tracked, state } } }
}

function withoutDigests(record: OrderVersionRecord): OrderVersionRecord {
  const { tracked } = record.announced ?? {}
  if (!record.announced || !tracked) return record
  const digests = Object.keys(tracked.digests).map((accountId) => [accountId, '1:unknown'])
  return {
    ...record,
    announced: {
      ...record.announced,
      tracked: { ...tracked, digests: Object.fromEntries(digests) },
    },
  }
}
