import type { Clock } from '../../../src/lib/clock.ts'

/** Keeps accounts within their buckets, however late the responses arrive. */
export interface AccountPacer {
  canSend(accountId: string): boolean
  /** Records a request. Call the result once the response has arrived or can no longer arrive. */
  begin(accountId: string): () => void
}

/**
 * The refill rate of a bucket, so that only delayed requests exceed it: those in flight, and again
 * those that a faulty Redis counts after a fallback limiter has counted them. Their total is below
 * the bucket size, also in a bucket that a fallback limiter creates.
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
