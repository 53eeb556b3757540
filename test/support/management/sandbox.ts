import { sandboxOf } from '../../../src/auth/account-ids.ts'
import { MAX_SANDBOX_ORDERS } from '../../../src/management/sandbox/sandbox-management.ts'
import type { SandboxOrder, SandboxStore } from '../../../src/management/sandbox/sandbox-store.ts'
import { sourceOrder } from '../orders/source-order.ts'

const AT_ONCE = 100

/** An order of the sandbox of `acc_1`, as it is stored. */
export function sandboxOrder(changes: Partial<SandboxOrder> = {}): SandboxOrder {
  const { accountId = 'acc_1', orderId = 'ord_test_1' } = changes
  return {
    accountId,
    orderId,
    scenario: 'pix_paid',
    madeAt: 1_000,
    source: sourceOrder({ id: orderId, owner_account_id: sandboxOf(accountId) }),
    ...changes,
  }
}

/** Stores as many orders as an account may have, without writing them to the index. */
export async function fillSandbox(store: SandboxStore, accountId: string): Promise<void> {
  const orders = Array.from({ length: MAX_SANDBOX_ORDERS }, (_, n) =>
    sandboxOrder({ accountId, orderId: `ord_test_${accountId}_${n}` }),
  )
  while (orders.length > 0) {
    await Promise.all(orders.splice(0, AT_ONCE).map((order) => store.insert(order)))
  }
}
