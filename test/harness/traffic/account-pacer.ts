import type { Clock } from '../../../src/lib/clock.ts'

/** Keeps accounts within their buckets, however late the responses arrive. */
export interface AccountPacer {
  canSend(accountId: string): boolean
  /** Notes a request; what is returned has to be called once it was answered, or never will be. */
  begin(accountId: string): () => void
}

/**
 * As often as a bucket of the service refills by itself, so that only those that were held up on their way
 * come on top: those under way, and once more those that a Redis in trouble counts after a process alone has.
 * Together they are fewer than a bucket has, and one that a process begins alone has no more to bear.
 */
const INTERVAL_MS = 100
const MAX_IN_FLIGHT = 8

export function createAccountPacer(clock: Clock): AccountPacer {
  const accounts = new Map<string, { inFlight: number; lastAt: number }>()
  const of = (accountId: string) => accounts.get(accountId) ?? { inFlight: 0, lastAt: -Infinity }

  return {
    canSend(accountId) {
      const { inFlight, lastAt } = of(accountId)
      return inFlight < MAX_IN_FLIGHT && clock() - lastAt >= INTERVAL_MS
    },

    begin(accountId) {
      const account = of(accountId)
      accounts.set(accountId, account)
      account.inFlight += 1
      account.lastAt = clock()
      return () => {
        account.inFlight -= 1
      }
    },
  }
}
