import type { Random } from '../../../../../src/demo/random.ts'
import type { Change } from '../../../../../src/indexing/projection/change.ts'
import { lastPayment } from '../../../../../src/indexing/projection/payment.ts'
import type {
  SourceOrder,
  SourcePayment,
} from '../../../../../src/indexing/projection/source-order.ts'
import { formatInstant } from '../../../../../src/lib/instant.ts'
import type { Order } from '../../../../../src/orders/order.ts'
import { orderStatuses, paymentStatuses } from '../../../../../src/orders/order-values.ts'
import { type OrderState, stateOf } from '../../../../../src/webhooks/events/order-state.ts'
import { changeOf } from '../../../orders/changes.ts'
import { sourceOrder, sourcePayment } from '../../../orders/source-order.ts'

/** Every version that a platform made of its orders. */
export interface SourceHistory {
  /** Makes the next version of a random order. `nowMs`: the platform's clock. */
  next(nowMs: number): Change
  /** The ids of all orders. */
  orderIds(): string[]
  /** The newest version of an order. */
  latest(orderId: string): Change
  /** The state of a version; `null` when it is not visible, and for version 0. */
  state(orderId: string, version: number): OrderState | null
  /** What an account sees of a version, without its date; `null`: no view. */
  content(orderId: string, accountId: string, version: number): string | null
  /** The newest version of which an account sees exactly this; -1 when none is like it. */
  newestShowing(orderId: string, accountId: string, content: string | null): number
}

/** The content of a view: an order without its date. */
export function contentOf(order: Order): string {
  return JSON.stringify({ ...order, updated_at: null })
}

/**
 * The current source of an order. A deletion keeps the last content, for the return of the order.
 */
interface CurrentOrder {
  source: SourceOrder
  isDeleted: boolean
}

const DELETION_CHANCE = 0.08

/**
 * A platform that changes up to `orderCount` orders of these accounts at random: through every
 * status of order and payment, with participants that join and leave, deletions and returns. The id
 * of an order begins with `prefix`.
 */
export function createSourceHistory(
  random: Random,
  { accounts, orderCount, prefix }: SourceHistoryOptions,
): SourceHistory {
  const current = new Map<string, CurrentOrder>()
  /** The position is the version; the first has no version 0. */
  const versions = new Map<string, Change[]>()
  let counter = 0

  function firstVersion(nowMs: number): SourceOrder {
    const owner = random.pick(accounts)
    return sourceOrder({
      id: `${prefix}${current.size + 1}`,
      owner_account_id: owner,
      coproducer_account_ids: random.chance(0.4) ? [random.pick(accounts)] : [],
      status: random.pick(orderStatuses),
      created_at: formatInstant(nowMs),
      changed_at: null,
      payments: [sourcePayment({ status: random.pick(paymentStatuses) })],
    })
  }

  function editLastPayment(order: SourceOrder, edit: Partial<SourcePayment>): Partial<SourceOrder> {
    const last = lastPayment(order.payments)
    const payments = order.payments.map((payment) =>
      payment === last ? { ...payment, ...edit } : payment,
    )
    return { payments }
  }

  /** The possible changes of an order. */
  const edits: ((order: SourceOrder, nowMs: number) => Partial<SourceOrder>)[] = [
    () => ({ status: random.pick(orderStatuses) }),
    () => ({ status: random.pick(['PAID', 'DISPUTED', 'AWAITING_PAYMENT'] as const) }),
    (order) => editLastPayment(order, { status: random.pick(paymentStatuses) }),
    (order) => ({
      status: 'PAID',
      ...editLastPayment(order, {
        status: 'PARTIALLY_REFUNDED',
        amount_refunded: random.between(1, 100),
      }),
    }),
    (order) =>
      editLastPayment(order, { status: 'DECLINED', decline_code: `AB-000${random.digits(1)}` }),
    (order, nowMs) => ({
      payments: [
        ...order.payments,
        sourcePayment({
          id: `pay_${++counter}`,
          created_at: formatInstant(nowMs),
          status: random.pick(paymentStatuses),
        }),
      ],
    }),
    () => ({ coproducer_account_ids: accounts.filter(() => random.chance(0.4)) }),
    () => ({ amount_total: ++counter }),
    () => ({ tracking: { src: `${++counter}` } }), // The owner alone sees it.
    (_order, nowMs) => ({ changed_at: formatInstant(nowMs) }),
    () => ({}), // An initial fill, or no change at all.
  ]

  function nextSource(nowMs: number): CurrentOrder {
    if (current.size === 0 || (current.size < orderCount && random.chance(0.2))) {
      return { source: firstVersion(nowMs), isDeleted: false }
    }
    const { source, isDeleted } = random.pick([...current.values()])
    const version = source.version + 1
    if (!isDeleted && random.chance(DELETION_CHANCE)) {
      return { source: { ...source, version }, isDeleted: true }
    }
    return {
      source: { ...source, ...random.pick(edits)(source, nowMs), version },
      isDeleted: false,
    }
  }

  const versionsOf = (orderId: string) => versions.get(orderId) ?? []

  function content(orderId: string, accountId: string, version: number): string | null {
    const change = versionsOf(orderId)[version - 1]
    const view = change?.views.find((candidate) => candidate.accountId === accountId)
    return view === undefined ? null : contentOf(view.order)
  }

  return {
    next(nowMs) {
      const next = nextSource(nowMs)
      const { id, version, owner_account_id } = next.source
      const change = changeOf(
        next.isDeleted ? { id, version, owner_account_id, deleted: true } : next.source,
      )
      current.set(id, next)
      versions.set(id, [...versionsOf(id), change])
      return change
    },
    orderIds: () => [...versions.keys()],
    latest(orderId) {
      const change = versionsOf(orderId).at(-1)
      if (change === undefined) throw new Error(`there is no order ${orderId}`)
      return change
    },
    state(orderId, version) {
      const change = versionsOf(orderId)[version - 1]
      const [view] = change?.views ?? []
      return change && view ? stateOf(view.order, change.lastPaymentId) : null
    },
    content,
    newestShowing(orderId, accountId, shown) {
      const isShown = (version: number) => content(orderId, accountId, version) === shown
      for (let version = versionsOf(orderId).length; version >= 0; version--) {
        if (isShown(version)) return version
      }
      return -1
    },
  }
}

export interface SourceHistoryOptions {
  accounts: readonly string[]
  orderCount: number
  prefix: string
}
