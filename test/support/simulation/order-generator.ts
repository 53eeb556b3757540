import type { Random } from '../../../src/demo/random.ts'
import type { SourceOrder } from '../../../src/indexing/projection/source-order.ts'
import { formatInstant } from '../../../src/lib/instant.ts'
import { sourceOrder, sourcePayment } from '../orders/source-order.ts'

/** The e-mail addresses of the buyers, also in capitals. */
export const BUYER = 'rita@exemplo.com.br'
const OTHER = 'ana@exemplo.com.br'

/** A version of an order, and whether it deletes it. */
export type Version = SourceOrder | Deletion
interface Deletion {
  id: string
  version: number
  owner_account_id: string
  deleted: true
}

/**
 * A platform that changes its orders at random, one version after the other, on a simulated clock.
 * The account `reader` owns some orders and is a co-producer of some others; no two readers share
 * an order.
 */
export function createOrderGenerator(random: Random, reader: string, startMs: number) {
  const current = new Map<string, Version>()
  let nowMs = startMs
  let content = 0

  const next = (order: SourceOrder): SourceOrder => ({ ...order, version: order.version + 1 })
  // Every content is unique, so that a row identifies the version it shows.
  const changed = (order: SourceOrder): SourceOrder => ({ ...next(order), amount_total: ++content })
  const filled = (order: SourceOrder): SourceOrder => ({ ...order, changed_at: instant() })
  const instant = () => formatInstant(nowMs)

  function insert(): SourceOrder {
    const id = `ord_${reader}_${random.digits(6)}`
    const updated = current.get(id)
    const order = sourceOrder({
      id,
      owner_account_id: random.pick([reader, `${reader}_partner`]),
      coproducer_account_ids: random.chance(0.7) ? [reader] : [],
      created_at: instant(),
      changed_at: random.chance(0.5) ? null : instant(),
      amount_total: ++content,
    })
    return updated === undefined ? order : insert()
  }

  /** The possible changes of an existing order. */
  const happenings: ((order: SourceOrder) => Version)[] = [
    (order) => (order.changed_at === null ? changed(order) : filled(changed(order))),
    (order) => filled(changed(order)),
    (order) => filled(next(order)), // An initial fill, or no change at all.
    next,
    (order) => ({ ...changed(order), status: random.pick(['PAID', 'UNPAID']) }),
    (order) => ({
      ...changed(order),
      customer: { name: 'Rita Lima', email: random.pick([BUYER, BUYER.toUpperCase(), OTHER]) },
    }),
    (order) => ({ ...changed(order), coproducer_account_ids: random.pick([[reader], []]) }),
    (order) => ({
      ...changed(order),
      payments: [sourcePayment({ status: random.pick(['PAID', 'FAILED']) })],
    }),
    ({ id, version, owner_account_id }) => ({
      id,
      version: version + 1,
      owner_account_id,
      deleted: true,
    }),
  ]

  return {
    /** Advances the clock, so that later orders are newer than all before. */
    tick(ms: number) {
      nowMs += ms
    },

    /** The next version of a random order, or a new one. */
    change(): Version {
      const alive = [...current.values()].filter((version) => !isDeletion(version))
      const version =
        alive.length === 0 || random.chance(0.3)
          ? insert()
          : random.pick(happenings)(random.pick(alive))
      current.set(version.id, version)
      return version
    },
  }
}

export function isDeletion(version: Version): version is Deletion {
  return version.deleted === true
}

/** Whether the reader sees an order in this version. */
export function isVisible(version: Version, reader: string): version is SourceOrder {
  if (isDeletion(version)) return false
  const takesPart =
    version.owner_account_id === reader || version.coproducer_account_ids?.includes(reader)
  return takesPart === true && version.payments.some(({ status }) => status !== 'FAILED')
}
