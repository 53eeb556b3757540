import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { byEffort } from '../../support/effort.ts'
import { onServices } from '../../support/stores/backend.ts'
import type { MutateDispatcher } from '../../support/webhooks/model/delivering/delivering.ts'
import { walkDeliveries } from '../../support/webhooks/model/delivery-walk.ts'
import { dispatcherMutations } from '../../support/webhooks/model/mutations/dispatcher-mutations.ts'
import { openWalkStores, type WalkStores } from '../../support/webhooks/model/walk-stores.ts'

/** A cluster write costs a hundred times an embedded one. */
const WALKS = onServices ? byEffort(3, 20) : byEffort(12, 60)
const MUTATION_SEEDS = 60
/** The faults are of the dispatcher, whatever its stores. */
const mutations = onServices ? [] : dispatcherMutations

describe(`webhooks on ${onServices ? 'OpenSearch' : 'SQLite'}`, () => {
  let stores: WalkStores
  beforeAll(async () => {
    stores = await openWalkStores()
  })
  afterAll(() => stores.close())

  const walk = (seed: number, mutate?: MutateDispatcher) => walkDeliveries(seed, stores, mutate)

  it('keep every invariant, whatever dies', async () => {
    let requests = 0
    for (let seed = 1; seed <= WALKS; seed++) {
      const result = await walk(seed)
      expect(result.report).toBe('')
      requests += result.requests
    }
    expect(requests).toBeGreaterThan(10 * WALKS)
  })

  it.each(mutations)(
    'the model finds a dispatcher that $name',
    async ({ name: mutation, invariant, firstSeed, mutate }) => {
      const found = new Set<number>()
      const first =
        WALKS + 1 + MUTATION_SEEDS * mutations.findIndex(({ name }) => name === mutation)
      const search = Array.from({ length: MUTATION_SEEDS }, (_, at) => first + at)
      // The orders of a seed can be walked once: what overlaps may differ on a busy machine.
      const others = search.filter((seed) => seed !== firstSeed)
      for (const seed of firstSeed === undefined ? others : [firstSeed, ...others]) {
        const { violations } = await walk(seed, mutate)
        for (const violation of violations) found.add(violation.invariant)
        if (found.has(invariant)) break
      }
      expect(found).toContain(invariant)
    },
  )
})
