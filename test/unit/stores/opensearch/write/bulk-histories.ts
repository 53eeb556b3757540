import fc from 'fast-check'
import type { BulkTurn } from './memory-cluster.ts'
import type { Command } from './simulated-reindex.ts'

/** What happens beside a bulk. */
export type Event =
  /** A client reads a page after a refresh, which omits the last writes. */
  | { name: 'page'; client: number; omitted: number }
  | { name: 'deliver'; bulk: number; applied: number }
  | { name: 'end bulks' }
  | { name: 'fail over'; index: FailedIndex; kept: number; isRepeated: boolean }
  /** Another writer starts, although the active one has not ended. */
  | { name: 'take over' }
  /** A reindex starts a command, unless one runs. */
  | { name: 'reindex'; command: Command }
  /** The bulk waits, while other processes send requests. */
  | { name: 'pause'; requests: number }

type FailedIndex = 'live' | 'other' | 'version records'

/** A change of one order, without its version. */
export interface HistoryChange {
  order: number
  amount: number
  isShared: boolean
  isDated: boolean
  isDeletion: boolean
}

export type Turn = Omit<BulkTurn, 'before' | 'during'> & {
  before: readonly Event[]
  during: readonly Event[]
}

export interface History {
  /** Each is one call of the writer. */
  batches: readonly (readonly HistoryChange[])[]
  /** Of the first bulks. */
  turns: readonly Turn[]
  /** Whether a node that left the cluster responds, for each of the first reads. */
  outdatedReads: readonly boolean[]
}

/** The turn of every later bulk. */
export const HEALTHY: Turn = {
  before: [],
  applied: 0,
  during: [],
  fate: 'answered',
  isCrash: false,
}

export const upTo = (max: number) => fc.integer({ min: 0, max })
const rarely = upTo(7).map((n) => n === 7)

const page = fc.record({
  name: fc.constant('page' as const),
  client: upTo(1),
  omitted: rarely.map(Number),
})
const deliver = fc.record({
  name: fc.constant('deliver' as const),
  bulk: upTo(3),
  applied: upTo(3),
})
const takeOver = fc.constant({ name: 'take over' as const })
const endBulks = fc.constant({ name: 'end bulks' as const })
export const failOver = fc.record({
  name: fc.constant('fail over' as const),
  index: fc.constantFrom<FailedIndex[]>('live', 'live', 'other', 'version records'),
  kept: upTo(2),
  isRepeated: fc.boolean(),
})
export const failures = [
  { weight: 3, arbitrary: page },
  { weight: 2, arbitrary: deliver },
  { weight: 2, arbitrary: failOver },
  { weight: 1, arbitrary: endBulks },
  { weight: 1, arbitrary: takeOver },
]
export const pause = fc.record({ name: fc.constant('pause' as const), requests: upTo(80) })
const events: fc.Arbitrary<Event[]> = fc.array(
  fc.oneof(...failures, { weight: 1, arbitrary: pause }),
  { maxLength: 3 },
)

/** A client receives a part of a bulk, and the cluster loses it. A late bulk follows. */
const lostPage: fc.Arbitrary<Event[]> = fc
  .tuple(page, deliver)
  .map(([read, late]) => [
    { ...read, omitted: 0 },
    { name: 'fail over', index: 'live', kept: 0, isRepeated: false },
    late,
  ])

const FATES = ['answered', 'answered', 'unanswered', 'running', 'held', 'in transit'] as const
export const turnWith = (before: fc.Arbitrary<Event[]>): fc.Arbitrary<Turn> =>
  fc.record({
    before,
    applied: upTo(3),
    during: fc.oneof(before, lostPage),
    fate: fc.constantFrom(...FATES),
    isCrash: rarely,
  })

const change: fc.Arbitrary<HistoryChange> = fc.record({
  order: upTo(2),
  amount: upTo(1),
  isShared: fc.boolean(),
  isDated: fc.boolean(),
  isDeletion: rarely,
})
export const batchesUpTo = (maxLength: number) =>
  fc.array(fc.array(change, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength })
const batches = batchesUpTo(4)

export const outdatedReads = fc.array(fc.boolean(), { maxLength: 20 })

export const histories: fc.Arbitrary<History> = fc.record({
  batches,
  turns: fc.array(turnWith(events), { maxLength: 12 }),
  outdatedReads,
})

/** Histories without a fault. */
export const healthyHistories: fc.Arbitrary<History> = fc.record({
  batches,
  turns: fc.constant([]),
  outdatedReads: fc.constant([]),
})

const plain: HistoryChange = {
  order: 0,
  amount: 1,
  isShared: false,
  isDated: false,
  isDeletion: false,
}

/** A removal is repeated beside its late tombstone, which the cluster then loses. */
export const lostTombstone: History = {
  batches: [
    [plain],
    [
      { ...plain, order: 2 },
      { ...plain, order: 1 },
    ],
    [{ ...plain, order: 2, isDeletion: true }],
    [{ ...plain, order: 1, amount: 2 }],
  ],
  turns: [
    HEALTHY,
    { ...HEALTHY, fate: 'unanswered' },
    HEALTHY,
    HEALTHY,
    { ...HEALTHY, fate: 'held' },
    HEALTHY,
    { ...HEALTHY, during: [{ name: 'deliver', bulk: 0, applied: 1 }] },
    {
      ...HEALTHY,
      during: [{ name: 'fail over', index: 'live', kept: 0, isRepeated: false }],
    },
  ],
  outdatedReads: [],
}

const pageThenLoss: readonly Event[] = [
  { name: 'page', client: 0, omitted: 0 },
  { name: 'fail over', index: 'live', kept: 0, isRepeated: false },
  { name: 'deliver', bulk: 0, applied: 0 },
]

/** A late bulk arrives after the loss of its repetition, which a client received in part. */
export const lostRepetition: History = {
  batches: [[plain, { ...plain, order: 1, isDated: true }]],
  turns: [
    { ...HEALTHY, fate: 'held' },
    { ...HEALTHY, applied: 2, during: pageThenLoss },
  ],
  outdatedReads: [],
}

/** Two late bulks of a change: the second one arrives after a newer change. */
export const lateBulks: History = {
  batches: [[{ ...plain, amount: 0 }], [plain]],
  turns: [
    { ...HEALTHY, fate: 'held' },
    { ...HEALTHY, fate: 'in transit', isCrash: true },
    { ...HEALTHY, fate: 'held' },
    { ...HEALTHY, during: pageThenLoss },
  ],
  outdatedReads: [],
}
