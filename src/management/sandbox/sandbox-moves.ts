import { lastPayment } from '../../indexing/projection/payment.ts'
import type {
  SourceDeletion,
  SourceOrder,
  SourcePayment,
} from '../../indexing/projection/source-order.ts'
import { formatInstant } from '../../lib/instant.ts'
import * as payments from './sandbox-payments.ts'

/** What can happen to an order of a sandbox. */
export const sandboxMoves = [
  'pay',
  'decline',
  'renew',
  'refund',
  'dispute',
  'win',
  'cancel',
  'erase',
] as const
export type SandboxMove = (typeof sandboxMoves)[number]

/** The facts of an order that decide which moves are possible. */
interface Situation {
  order: SourceOrder
  last: SourcePayment
  isSubscription: boolean
  isSplit: boolean
  /** A canceled subscription or a trial that ended charges nothing more. */
  isEnded: boolean
}

type Changes = Partial<SourceOrder>

/** More than any test needs. Each move writes the whole order, whose size has a limit. */
export const MAX_PAYMENTS = 100

interface Rule {
  isPossible(situation: Situation): boolean
  /** `at`: later than every payment of the order. */
  change(situation: Situation, at: string): Changes
}

const isAwaiting = ({ order, last }: Situation) =>
  order.status === 'AWAITING_PAYMENT' && last.status === 'PENDING'
const isTrial = ({ order }: Situation) => order.status === 'TRIAL'
const isUnpaid = ({ order, isEnded }: Situation) => order.status === 'UNPAID' && !isEnded
const isPaid = ({ order }: Situation) => order.status === 'PAID'
const isActive = (situation: Situation) => isPaid(situation) && situation.isSubscription
/** Whether another payment may be added. */
const hasRoom = ({ order }: Situation) => order.payments.length < MAX_PAYMENTS
const isDue = (situation: Situation) =>
  (isTrial(situation) || isUnpaid(situation)) && hasRoom(situation)

const rules: Record<Exclude<SandboxMove, 'erase'>, Rule> = {
  pay: {
    isPossible: (situation) => isAwaiting(situation) || isDue(situation),
    change(situation, at) {
      const paid = { status: 'PAID', paid_at: situation.order.paid_at ?? at } as const
      if (isAwaiting(situation))
        return { ...paid, payments: payments.settleLast(situation, 'PAID') }
      return { ...paid, ...charged(situation, 'PAID', at) }
    },
  },
  // PIX and boleto are not declined: they expire. A split payment is canceled instead.
  decline: {
    isPossible(situation) {
      if (isAwaiting(situation)) return !situation.isSplit
      const isByCard = situation.last.method === 'CREDIT_CARD'
      const isRenewed = isActive(situation) && hasRoom(situation)
      return isByCard && (isDue(situation) || isRenewed)
    },
    change(situation, at) {
      const status = 'UNPAID'
      if (isAwaiting(situation)) return { status, payments: payments.settleLast(situation, status) }
      return { status, ...charged(situation, 'DECLINED', at) }
    },
  },
  renew: {
    isPossible: (situation) => isActive(situation) && hasRoom(situation),
    change: ({ order }, at) => ({ payments: payments.append(order, 'PAID', at) }),
  },
  refund: {
    isPossible: isPaid,
    change: ({ order }, at) => ({ status: 'REFUNDED', payments: payments.refund(order, at) }),
  },
  dispute: {
    isPossible: isPaid,
    change: ({ order }) => ({ status: 'DISPUTED', payments: payments.dispute(order) }),
  },
  win: {
    isPossible: ({ order }) => order.status === 'DISPUTED',
    change: ({ order }) => ({ status: 'PAID', payments: payments.win(order) }),
  },
  cancel: {
    isPossible: (situation) =>
      (isAwaiting(situation) && situation.isSplit) ||
      isTrial(situation) ||
      (isUnpaid(situation) && situation.isSubscription),
    change(situation, at) {
      const { order } = situation
      if (!isAwaiting(situation)) return { status: 'UNPAID', canceled_at: at }
      const settled = { ...order, payments: payments.settleLast(situation, 'UNPAID') }
      return { status: 'CANCELED', canceled_at: at, payments: payments.refund(settled, at) }
    },
  },
}

/** The moves that an order allows, in the order of {@link sandboxMoves}; none once it is erased. */
export function possibleMoves(source: SourceOrder | SourceDeletion): SandboxMove[] {
  if (source.deleted === true) return []
  const situation = situationOf(source)
  return sandboxMoves.filter((move) => move === 'erase' || rules[move].isPossible(situation))
}

/**
 * The next version of an order after a move that it allows. `nowMs`: epoch milliseconds. Pure.
 * @throws Error for an impossible move
 */
export function moveOrder(
  source: SourceOrder,
  move: SandboxMove,
  nowMs: number,
): SourceOrder | SourceDeletion {
  if (!possibleMoves(source).includes(move)) throw new Error(`an impossible move: ${move}`)
  const version = source.version + 1
  if (move === 'erase') {
    return { id: source.id, version, owner_account_id: source.owner_account_id, deleted: true }
  }
  const at = formatInstant(Math.max(nowMs, payments.lastInstant(source) + 1))
  return { ...source, ...rules[move].change(situationOf(source), at), version, changed_at: at }
}

function situationOf(order: SourceOrder): Situation {
  const last = lastPayment(order.payments)
  return {
    order,
    last,
    isSubscription: order.items.some(({ plan_id }) => plan_id != null),
    isSplit: last.split_group != null,
    isEnded: order.canceled_at != null,
  }
}

/** A new payment; the first one after a trial sets the amounts of the order. */
function charged(situation: Situation, status: 'PAID' | 'DECLINED', at: string): Changes {
  const { order } = situation
  const appended = payments.append(order, status, at)
  if (!isTrial(situation)) return { payments: appended }
  const { amount } = lastPayment(appended)
  const amounts = { amount_total: amount, amount_subtotal: amount, amount_in_brl: amount }
  return { ...amounts, payments: appended }
}
