import { expect, it } from 'vitest'
import { mapTransactions } from '../../../../src/indexing/writer/order-index.ts'
import { byEffort } from '../../../support/effort.ts'
import { createMemoryOrderIndex } from '../../../support/stores/memory-order-index.ts'
import { recordingMutations } from '../../../support/webhooks/model/mutations/recording-mutations.ts'
import {
  type RecordingStore,
  walkRecording,
} from '../../../support/webhooks/model/recording-walk.ts'

const WALKS = byEffort(400, 1_500)
const MUTATION_SEEDS = 100

/** A store that a crash may leave with any part of a bulk, as on OpenSearch. */
function openStore(): RecordingStore {
  const index = createMemoryOrderIndex()
  return {
    isAtomic: false,
    openIndex: async (_clock, subscribers) =>
      mapTransactions(index, (transaction) => ({ ...transaction, subscribers })),
    readView: async (accountId, orderId) => index.order(accountId, orderId) ?? null,
    eventRecords: async () => index.events,
  }
}

it('every visible change is announced once, whenever writers die', async () => {
  let records = 0
  let crashes = 0
  for (let seed = 1; seed <= WALKS; seed++) {
    const result = await walkRecording(seed, openStore())
    expect(result.report).toBe('')
    records += result.records
    crashes += result.crashes
  }
  expect(records).toBeGreaterThan(2 * WALKS)
  expect(crashes).toBeGreaterThan(2 * WALKS)
})

it.each(recordingMutations)(
  'the model finds a writer that $name',
  async ({ invariant, mutate }) => {
    const found = new Set<number>()
    for (let seed = 1; seed <= MUTATION_SEEDS && !found.has(invariant); seed++) {
      const { violations } = await walkRecording(seed, openStore(), mutate)
      for (const violation of violations) found.add(violation.invariant)
    }
    expect(found).toContain(invariant)
  },
)
