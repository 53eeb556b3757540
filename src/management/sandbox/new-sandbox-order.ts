import { randomInt } from 'node:crypto'
import { sandboxOf } from '../../auth/account-ids.ts'
import { scenarioOrder } from '../../demo/demo-orders.ts'
import { base62FromBytes } from '../../lib/text/base62.ts'
import type { SandboxScenario } from './sandbox-scenarios.ts'
import type { SandboxOrder } from './sandbox-store.ts'

const ID_DIGITS = 24
const SEEDS = 2 ** 32

/** An order as its scenario begins at `madeAt`, epoch milliseconds. */
export function newSandboxOrder(
  accountId: string,
  orderId: string,
  { id: scenario, demo }: SandboxScenario,
  madeAt: number,
): SandboxOrder {
  const source = scenarioOrder({
    scenario: demo,
    id: orderId,
    ownerAccountId: sandboxOf(accountId),
    seed: randomInt(SEEDS),
    until: madeAt,
  })
  return { accountId, orderId, scenario, madeAt, source }
}

/**
 * The order id of 32 random bytes, or of a digest. It has 142 bits of them, so no order of the
 * platform has it by chance. The writer rejects one that has it on purpose, because the owner of an
 * order never changes.
 */
export function sandboxOrderId(bytes: Uint8Array): string {
  return `ord_test_${base62FromBytes(bytes, ID_DIGITS)}`
}
