import fc from 'fast-check'
import {
  batchesUpTo,
  type Event,
  failOver,
  failures,
  HEALTHY,
  type History,
  type HistoryChange,
  outdatedReads,
  pause,
  type Turn,
  turnWith,
  upTo,
} from './bulk-histories.ts'
import type { Command } from './simulated-reindex.ts'

const reindex = fc.record({
  name: fc.constant('reindex' as const),
  command: fc.constantFrom<Command[]>('build', 'build', 'finish', 'rollBack'),
})
const events: fc.Arbitrary<Event[]> = fc.array(
  fc.oneof(...failures, { weight: 2, arbitrary: reindex }, { weight: 4, arbitrary: pause }),
  { maxLength: 3 },
)
/** Most bulks fail in one way at most, so a command makes progress. */
const calmEvents: fc.Arbitrary<Event[]> = fc.array(fc.oneof(pause, failOver), { maxLength: 2 })
const calmTurn: fc.Arbitrary<Turn> = fc.record({
  before: calmEvents,
  applied: upTo(3),
  during: fc.constant([]),
  fate: fc.constantFrom('answered', 'answered', 'running'),
  isCrash: fc.constant(false),
})
const turns = fc.array(fc.oneof({ weight: 5, arbitrary: calmTurn }, turnWith(events)), {
  maxLength: 30,
})

/** A reindex builds an index while changes arrive, and other commands follow. */
export const reindexHistories: fc.Arbitrary<History> = fc
  .record({ batches: batchesUpTo(6), turns, outdatedReads, buildAt: upTo(3) })
  .map(({ turns, buildAt, ...history }) => {
    const build: Turn = { ...HEALTHY, before: [{ name: 'reindex', command: 'build' }] }
    return { ...history, turns: turns.toSpliced(buildAt, 0, build) }
  })

const change: HistoryChange = {
  order: 1,
  amount: 0,
  isShared: false,
  isDated: false,
  isDeletion: false,
}
const running: Turn = { ...HEALTHY, fate: 'running', applied: 1 }

/** The retry of a copy finds the first one, which only the primary of the new index has. */
export const lostCopy: History = {
  batches: [[change], [{ ...change, order: 0 }]],
  turns: [
    { ...HEALTHY, fate: 'running' },
    { ...HEALTHY, before: [{ name: 'reindex', command: 'build' }] },
    HEALTHY,
    running,
    { ...HEALTHY, before: [{ name: 'pause', requests: 1 }] },
    HEALTHY,
    { ...HEALTHY, fate: 'running' },
    {
      ...HEALTHY,
      before: [{ name: 'fail over', index: 'live', kept: 0, isRepeated: false }],
    },
  ],
  outdatedReads: [],
}

/** The new index keeps one of two orders of a bulk that the live index did not receive. */
export const repeatedRevert: History = {
  batches: [[{ ...change, order: 0 }, change]],
  turns: [
    {
      ...HEALTHY,
      before: [{ name: 'reindex', command: 'build' }],
      during: [{ name: 'fail over', index: 'live', kept: 0, isRepeated: false }],
    },
    {
      ...HEALTHY,
      applied: 1,
      during: [{ name: 'fail over', index: 'other', kept: 1, isRepeated: false }],
    },
  ],
  outdatedReads: [],
}
