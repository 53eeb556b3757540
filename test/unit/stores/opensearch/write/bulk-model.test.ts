import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { isTombstone } from '../../../../../src/stores/opensearch/client/documents/tombstone.ts'
import { byEffort } from '../../../../support/effort.ts'
import {
  type History,
  healthyHistories,
  histories,
  lateBulks,
  lostRepetition,
  lostTombstone,
} from './bulk-histories.ts'
import { runHistory } from './bulk-simulation.ts'
import { rowOf } from './paging-client.ts'
import { lostCopy, reindexHistories, repeatedRevert } from './reindex-histories.ts'

// Pauses of retries end at once, and so do the deadlines of `withDeadline`.
beforeAll(() => {
  vi.spyOn(timers, 'setTimeout').mockImplementation(async () => {})
  syncBuiltinESMExports()
})
afterAll(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

async function expectNewestContent(history: History): Promise<void> {
  const { expected, indexed, former, received, versions, recorded } = await runHistory(history)
  const amounts = Object.entries(indexed).map(([id, { amount }]) => [id, amount])
  expect(Object.fromEntries(amounts)).toEqual(expected)
  expect(former).toEqual(indexed)
  expect(recorded).toEqual(versions)
  // A listing does not report removals.
  expect(received).toMatchObject(indexed)
}

it('clients receive the newest content of every order, whatever bulks are late and nodes are lost', async () => {
  await fc.assert(fc.asyncProperty(histories, expectNewestContent), {
    numRuns: byEffort(500, 2_000),
    examples: [[lostRepetition], [lostTombstone], [lateBulks]],
  })
})

it('clients receive the newest content of every order from the index that serves, whatever a reindex does meanwhile', async () => {
  await fc.assert(fc.asyncProperty(reindexHistories, expectNewestContent), {
    numRuns: byEffort(200, 2_000),
    examples: [[lostCopy], [repeatedRevert]],
  })
})

it('a document is written again only for new content, where nothing fails', async () => {
  await fc.assert(
    fc.asyncProperty(healthyHistories, async (history) => {
      const { log } = await runHistory(history)
      for (const operations of Map.groupBy(log, ({ id }) => id).values()) {
        const rows = operations.map(({ source }) => (isTombstone(source) ? null : rowOf(source)))
        for (const [at, row] of rows.entries()) {
          const before = rows[at - 1]
          // The first date of an order counts as a change.
          if (!row || !before || (before.updatedAt === null && row.updatedAt !== null)) continue
          expect(row.amount).not.toBe(before.amount)
        }
      }
    }),
    { numRuns: 100 },
  )
})
