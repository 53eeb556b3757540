import type { BenchChange } from './changes.ts'

/** A change that one account has to see. */
interface Delivery {
  accountId: string
  orderId: string
  serial: number
  sentAtMs: number
  /** NaN until the account first sees it. */
  shownAtMs: number
}

/** A row of a listing; the amount identifies the change that it shows. */
export interface ShownOrder {
  id: string
  amount_total: number
}

/** The outcome of the changes of a round, counted once for each account that follows them. */
export interface LedgerFigures {
  /** From the stream to the listing, ascending. */
  lagsMs: Float64Array
  /** Never shown, since the order had changed again by then. */
  overtaken: number
  /** Kind of wrong row or missing page → how often. */
  failures: Record<string, number>
}

export type LagLedger = ReturnType<typeof createLagLedger>

const UNKNOWN = 'an order that matches no sent change'
const BACKWARD = 'an older version after a newer one'
const MISSED = 'a change that was never shown'

/** Compares the changes in the stream with what followers of the accounts see. */
export function createLagLedger(followed: readonly string[]) {
  const bySerial = new Map<number, Delivery[]>()
  /** The latest version by account and order, until the account sees it. */
  const due = new Map<string, Delivery>()
  /** The serial that was shown last, by account and order. */
  const newest = new Map<string, number>()
  let taken: Delivery[] = []
  let failures: Record<string, number> = {}

  function count(what: string): void {
    failures[what] = (failures[what] ?? 0) + 1
  }

  return {
    /** The change is about to enter the stream, at this instant. */
    sent({ serial, orderId, deleted, accountIds }: BenchChange, sentAtMs: number): void {
      const own = accountIds.filter((accountId) => followed.includes(accountId))
      if (deleted) {
        for (const accountId of own) due.delete(keyOf({ accountId, orderId }))
        return
      }
      const times = { sentAtMs, shownAtMs: Number.NaN }
      const deliveries = own.map((accountId) => ({ accountId, orderId, serial, ...times }))
      for (const delivery of deliveries) due.set(keyOf(delivery), delivery)
      bySerial.set(serial, deliveries)
      taken.push(...deliveries)
    },

    /** The account received these rows at this instant, on the same clock. */
    shown(accountId: string, orders: readonly ShownOrder[], atMs: number): void {
      for (const { id, amount_total: serial } of orders) {
        const delivery = bySerial.get(serial)?.find((one) => one.accountId === accountId)
        if (delivery?.orderId !== id) {
          count(UNKNOWN)
          continue
        }
        const key = keyOf(delivery)
        if (serial < (newest.get(key) ?? 0)) count(BACKWARD)
        else newest.set(key, serial)
        if (Number.isNaN(delivery.shownAtMs)) delivery.shownAtMs = atMs
        if (due.get(key) === delivery) due.delete(key)
      }
    },

    /** A follower received no page. */
    failed: count,

    /** The number of latest versions that were not shown yet. */
    due: () => due.size,

    /** The figures of all changes since the last call. */
    take(): LedgerFigures {
      const isShown = ({ shownAtMs }: Delivery) => !Number.isNaN(shownAtMs)
      const lags = taken.filter(isShown).map(({ sentAtMs, shownAtMs }) => shownAtMs - sentAtMs)
      let overtaken = 0
      for (const one of taken.filter((each) => !isShown(each))) {
        if (due.get(keyOf(one)) !== one) overtaken += 1
        else if (due.delete(keyOf(one))) count(MISSED)
      }
      const figures = { lagsMs: Float64Array.from(lags).sort(), overtaken, failures }
      taken = []
      failures = {}
      return figures
    },
  }
}

const keyOf = ({ accountId, orderId }: Pick<Delivery, 'accountId' | 'orderId'>) =>
  `${accountId} ${orderId}`
