import type { BenchChange } from './changes.ts'

/** What an account is to be shown of a change. */
interface Showing {
  accountId: string
  orderId: string
  serial: number
  enteredAtMs: number
  /** For the first time. */
  shownAtMs: number
}

/** A row of a listing, as far as it tells which change it shows. */
export interface ShownOrder {
  id: string
  amount_total: number
}

/** What became of the changes of a while, each counted for every account that follows it. */
export interface LagFigures {
  /** From the stream to the listing, ascending, of the changes that were shown. */
  lagsMs: Float64Array
  /** Never shown, because the order had changed again by then. */
  overtaken: number
  /** The last version of an order, and never shown. */
  missed: number
  /** What a follower was given and should not have been → how often. */
  failures: Record<string, number>
}

/** Holds what was put into the stream against what the followers are shown. */
export interface LagLedger {
  /** A change is about to enter the stream. */
  sent(change: BenchChange): void
  /** It entered at this instant. */
  entered(serial: number, atMs: number): void
  /** A follower of the account was given these rows at this instant, on the same clock. */
  shown(accountId: string, orders: readonly ShownOrder[], atMs: number): void
  /** A follower was given no page. */
  failed(reason: string): void
  /** How many last versions nobody was shown yet. */
  due(): number
  /** The figures of what was sent since the last time. */
  take(): LagFigures
}

const STRANGE = 'an order that is not as any change that was sent'
const BACKWARD = 'an older version after a newer one'

export function createLagLedger(followed: readonly string[]): LagLedger {
  const byChange = new Map<number, Showing[]>()
  /** By account and order: the last version, until it is shown. */
  const due = new Map<string, Showing>()
  /** By account and order: the serial that was shown last. */
  const newest = new Map<string, number>()
  let sinceTaken: Showing[] = []
  let failures: Record<string, number> = {}

  function count(what: string): void {
    failures[what] = (failures[what] ?? 0) + 1
  }

  return {
    sent({ serial, orderId, deleted, accountIds }) {
      const own = accountIds.filter((accountId) => followed.includes(accountId))
      if (deleted) {
        for (const accountId of own) due.delete(keyOf(accountId, orderId))
        return
      }
      const showings = own.map((accountId) => {
        return { accountId, orderId, serial, enteredAtMs: Number.NaN, shownAtMs: Number.NaN }
      })
      if (showings.length === 0) return
      for (const showing of showings) due.set(keyOf(showing.accountId, orderId), showing)
      byChange.set(serial, showings)
      sinceTaken.push(...showings)
    },

    entered(serial, atMs) {
      for (const showing of byChange.get(serial) ?? []) showing.enteredAtMs = atMs
    },

    shown(accountId, orders, atMs) {
      for (const { id, amount_total: serial } of orders) {
        const showing = byChange.get(serial)?.find((one) => one.accountId === accountId)
        if (showing?.orderId !== id) {
          count(STRANGE)
          continue
        }
        const key = keyOf(accountId, id)
        if (serial < (newest.get(key) ?? 0)) count(BACKWARD)
        else newest.set(key, serial)
        if (Number.isNaN(showing.shownAtMs)) showing.shownAtMs = atMs
        if (due.get(key) === showing) due.delete(key)
      }
    },

    failed: count,

    due: () => due.size,

    take() {
      const unseen = sinceTaken.filter(({ shownAtMs }) => Number.isNaN(shownAtMs))
      const isDue = (one: Showing) => due.get(keyOf(one.accountId, one.orderId)) === one
      const missed = unseen.filter(isDue)
      const lags = sinceTaken
        .map(({ enteredAtMs, shownAtMs }) => shownAtMs - enteredAtMs)
        .filter((lag) => !Number.isNaN(lag))
      const figures = {
        lagsMs: Float64Array.from(lags).sort(),
        overtaken: unseen.length - missed.length,
        missed: missed.length,
        failures,
      }
      for (const { accountId, orderId } of missed) due.delete(keyOf(accountId, orderId))
      sinceTaken = []
      failures = {}
      return figures
    },
  }
}

const keyOf = (accountId: string, orderId: string) => `${accountId} ${orderId}`
