import type { Change } from '../../../../../src/indexing/projection/change.ts'
import type { SourceOrder } from '../../../../../src/indexing/projection/source-order.ts'
import { changeOf } from '../../../../support/orders/changes.ts'
import { sourceOrder } from '../../../../support/orders/source-order.ts'
import type { History } from './bulk-histories.ts'

export const OWNER = 'acc_1'
export const COPRODUCER = 'acc_2'

/** The changes of each call, with increasing versions of each order. */
export function versionsOf(batches: History['batches']): Change[][] {
  const versions = new Map<number, number>()
  return batches.map((batch) =>
    batch.map(({ order, amount, isShared, isDated, isDeletion }) => {
      const version = (versions.get(order) ?? 0) + 1
      versions.set(order, version)
      const id = `ord_${order}`
      if (isDeletion) return changeOf({ id, version, owner_account_id: OWNER, deleted: true })
      const given: Partial<SourceOrder> = { id, version, amount_total: amount }
      return changeOf(
        sourceOrder({
          ...given,
          coproducer_account_ids: isShared ? [COPRODUCER] : [],
          ...(!isDated && { changed_at: null }),
        }),
      )
    }),
  )
}

/** What the changes leave: amounts by document id, `account:order`, and versions by order id. */
export function latestOf(changes: readonly Change[]) {
  const latest = [...new Map(changes.map((change) => [change.orderId, change])).values()]
  const amounts = latest.flatMap(({ views, orderId }) =>
    views.map(({ accountId, order }) => [`${accountId}:${orderId}`, order.amount_total] as const),
  )
  return {
    amounts: Object.fromEntries(amounts),
    versions: Object.fromEntries(latest.map(({ orderId, version }) => [orderId, version])),
  }
}
