import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { isTombstone } from '../../../../../src/stores/opensearch/client/documents/tombstone.ts'
import { healthyHistories, histories, lostTombstone } from './bulk-histories.ts'
import { runHistory } from './bulk-simulation.ts'
import { rowOf } from './paging-client.ts'

// Pauses of retries end at once, and so do the deadlines of `withDeadline`.
beforeAll(() => {
  vi.spyOn(timers, 'setTimeout').mockImplementation(async () => {})
  syncBuiltinESMExports()
})
afterAll(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

it('clients receive the newest content of every order, whatever bulks are late and nodes are lost', async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const { expected, indexed, received, versions, recorded } = await runHistory(history)
      const amounts = Object.entries(indexed).map(([id, { amount }]) => [id, amount])
      expect(Object.fromEntries(amounts)).toEqual(expected)
      expect(recorded).toEqual(versions)
      // A listing does not report removals.
      expect(received).toMatchObject(indexed)
    }),
    { numRuns: 500, examples: [[lostTombstone]] },
  )
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
