import { createRandom } from '../../../src/demo/random.ts'
import { changeOf } from '../orders/changes.ts'
import { createOrderGenerator, type Version } from './order-generator.ts'

/** The final view that an account has of an order, without `updated_at`. */
export interface ExpectedOrder {
  order: object
  /** Whether it has an `updated_at`. */
  dated: boolean
}

const START_MS = Date.parse('2026-03-01T12:00:00Z')

/**
 * A sequence of changes to the orders of some accounts: orders are created, change, get their first
 * date or other co-producers, or are deleted. The same seed produces the same sequence.
 */
export function createHistory(seed: number, accounts: readonly string[]) {
  const random = createRandom(seed, 4, 0)
  const generators = accounts.map((account, n) => {
    return createOrderGenerator(createRandom(seed, 5, n), account, START_MS)
  })
  const latest = new Map<string, Version>()

  return {
    /** The next change of a random order. */
    next(): Version {
      const generator = random.pick(generators)
      generator.tick(random.between(0, 3))
      const version = generator.change()
      latest.set(version.id, version)
      return version
    },

    /** The expected documents, by `account:order`. */
    truth(): Map<string, ExpectedOrder> {
      const documents = [...latest.values()].flatMap((version) => {
        const { orderId, changedAt, views } = changeOf(version)
        return views.map(({ accountId, order }) => {
          const { updated_at: _, ...rest } = order
          return [`${accountId}:${orderId}`, { order: rest, dated: changedAt !== null }] as const
        })
      })
      return new Map(documents)
    },
  }
}

export type History = ReturnType<typeof createHistory>
