import type { SourcePayment } from '../indexing/projection/source-order.ts'
import { formatInstant } from '../lib/instant.ts'
import { DAY_MS, laterInstant } from './calendar.ts'
import type { History, Play } from './payments.ts'
import type { Random } from './random.ts'

const AFTERMATH_WITHIN_MS = 30 * DAY_MS

/** Every payment refunded in full. */
export function fullyRefunded(play: Play): Play {
  return followedBy(play, ({ payments }, at) => ({
    status: 'REFUNDED',
    payments: payments.map((payment) => refunded(payment, at)),
  }))
}

/** A part of the last payment refunded: the order stays paid. */
export function partlyRefunded(play: Play): Play {
  return followedBy(play, ({ payments }, at, random) => ({
    payments: payments.map((payment, place) =>
      place === payments.length - 1 ? partRefunded(payment, at, random) : payment,
    ),
  }))
}

/** A chargeback on every payment. */
export function disputed(play: Play): Play {
  return followedBy(play, ({ payments }) => ({
    status: 'DISPUTED',
    payments: payments.map((payment) => ({ ...payment, status: 'DISPUTED' })),
  }))
}

/** A chargeback that was won: all is as before, only later. */
export function disputeWon(play: Play): Play {
  return followedBy(play, () => ({}))
}

/** Goods on their way, or there: statuses the contract reserves. */
export function sent(play: Play, status: 'SHIPPED' | 'DELIVERED'): Play {
  return followedBy(play, () => ({ status }))
}

/** A payment as it stands after a full refund at `at`, epoch ms; one never paid is left alone. */
export function refunded(payment: SourcePayment, at: number): SourcePayment {
  if (payment.status !== 'PAID') return payment
  return {
    ...payment,
    status: 'REFUNDED',
    amount_refunded: payment.amount,
    refunded_at: formatInstant(at),
  }
}

function partRefunded(payment: SourcePayment, at: number, random: Random): SourcePayment {
  const share = random.between(10, 60) / 100
  return {
    ...payment,
    status: 'PARTIALLY_REFUNDED',
    amount_refunded: Math.round(payment.amount * share),
    refunded_at: formatInstant(at),
  }
}

function followedBy(
  play: Play,
  change: (before: History, at: number, random: Random) => Partial<History>,
): Play {
  return (checkout) => {
    const { random, until } = checkout
    const before = play(checkout)
    const at = laterInstant(random, before.settledAt, until, AFTERMATH_WITHIN_MS)
    return { ...before, settledAt: at, ...change(before, at, random) }
  }
}
