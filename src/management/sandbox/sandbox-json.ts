import { lastPayment } from '../../indexing/projection/payment.ts'
import { formatInstant } from '../../lib/instant.ts'
import { possibleMoves } from './sandbox-moves.ts'
import type { SandboxOrder } from './sandbox-store.ts'

/** An order of a sandbox, as the API returns it and the command prints it. */
export function sandboxOrderJson({ accountId, orderId, scenario, madeAt, source }: SandboxOrder) {
  const order = source.deleted === true ? null : source
  return {
    object: 'sandbox_order',
    id: orderId,
    account_id: accountId,
    scenario,
    version: source.version,
    status: order?.status ?? null,
    payment_status: order === null ? null : lastPayment(order.payments).status,
    erased: order === null,
    moves: possibleMoves(source),
    created_at: formatInstant(madeAt),
  } as const
}
