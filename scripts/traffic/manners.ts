import type { Clock } from '../../src/lib/clock.ts'

/** Keeps accounts from asking for more than their buckets have, however late the answers come. */
export interface Manners {
  mayAsk(accountId: string): boolean
  /** Notes a request; what is returned has to be called once it was answered, or never will be. */
  ask(accountId: string): () => void
}

/**
 * As often as a bucket of the service refills by itself, so that only those that were held up on their way
 * come on top: those under way, and once more those that a Redis in trouble counts after a process alone has.
 * Together they are fewer than a bucket has, and one that a process begins alone has no more to bear.
 */
const EVERY_MS = 100
const MOST_UNDER_WAY = 8

export function createManners(clock: Clock): Manners {
  const accounts = new Map<string, { underWay: number; lastAt: number }>()
  const of = (accountId: string) => accounts.get(accountId) ?? { underWay: 0, lastAt: -Infinity }

  return {
    mayAsk(accountId) {
      const { underWay, lastAt } = of(accountId)
      return underWay < MOST_UNDER_WAY && clock() - lastAt >= EVERY_MS
    },

    ask(accountId) {
      const account = of(accountId)
      accounts.set(accountId, account)
      account.underWay += 1
      account.lastAt = clock()
      return () => {
        account.underWay -= 1
      }
    },
  }
}
