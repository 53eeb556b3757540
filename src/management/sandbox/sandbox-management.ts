import { hash, randomBytes } from 'node:crypto'
import type { SourceDeletion, SourceOrder } from '../../indexing/projection/source-order.ts'
import { createKeyedMutex } from '../../lib/async/keyed-lock.ts'
import type { Clock } from '../../lib/clock.ts'
import { Unavailable } from '../../lib/errors/unavailable.ts'
import type { Actor } from '../audit/audit-entry.ts'
import type { AuditLog } from '../audit/audit-log.ts'
import { IDEMPOTENCY_KEY_TTL_MS } from '../idempotency/idempotency.ts'
import { ManagementError } from '../management-error.ts'
import { ImpossibleMoveError } from './impossible-move.ts'
import { newSandboxOrder, sandboxOrderId } from './new-sandbox-order.ts'
import { moveOrder, possibleMoves, type SandboxMove, sandboxMoves } from './sandbox-moves.ts'
import { sandboxScenarios } from './sandbox-scenarios.ts'
import type { SandboxList, SandboxOrder, SandboxStore } from './sandbox-store.ts'

/**
 * Writes versions of orders live, in this sequence. A version that is written already is no error.
 * @throws Unavailable
 */
export type WriteSourceOrders = (
  sources: readonly (SourceOrder | SourceDeletion)[],
) => Promise<void>

export interface SandboxManagementOptions {
  sandbox: SandboxStore
  write: WriteSourceOrders
  audit: Pick<AuditLog, 'record'>
  /** Epoch milliseconds. */
  clock: Clock
  /** Of an account, erased ones not counted; {@link MAX_SANDBOX_ORDERS} when absent. */
  maxOrders?: number
}

/** Ten full pages of the public API, which is enough to test cursors. */
export const MAX_SANDBOX_ORDERS = 1_000

/** An order of the sandbox of this account. */
export interface SandboxTarget {
  accountId: string
  orderId: string
}

/**
 * The management of sandbox orders, for commands and the management API. Calls throw Unavailable.
 */
export type SandboxManagement = ReturnType<typeof createSandboxManagement>

/** Concurrent moves of one order. */
const MAX_ATTEMPTS = 5

/** Creates the operations on sandbox orders. Each change is in the audit log. */
export function createSandboxManagement({
  sandbox,
  write,
  audit,
  clock,
  maxOrders = MAX_SANDBOX_ORDERS,
}: SandboxManagementOptions) {
  /** Concurrent creations would each count the orders before all of them. */
  const oneAtATime = createKeyedMutex()

  /** @throws ManagementError `sandbox_order_missing` */
  async function find({ accountId, orderId }: SandboxTarget): Promise<SandboxOrder> {
    const found = await sandbox.find(accountId, orderId)
    if (found !== null) return found
    throw new ManagementError(
      'sandbox_order_missing',
      `the sandbox of ${accountId} has no order ${orderId}: list its orders, or create one`,
    )
  }

  /** @throws ImpossibleMoveError */
  async function assertPossible(order: SandboxOrder, move: SandboxMove): Promise<SourceOrder> {
    const { orderId, source } = order
    const possible = possibleMoves(source)
    if (source.deleted !== true && possible.includes(move)) return source
    // Completes an earlier move whose write failed: its repetition is refused here.
    await write([source])
    throw new ImpossibleMoveError({ orderId, move, possible })
  }

  /** Whether a request that had an `Idempotency-Key` then may be repeated now. */
  const isRepeatable = (at: number) => at >= clock() - IDEMPOTENCY_KEY_TTL_MS

  const isMoved = ({ lastRequest }: SandboxOrder, requestId: string | undefined) =>
    lastRequest !== undefined && lastRequest.id === requestId && isRepeatable(lastRequest.at)

  /**
   * The id of a new order, and the order when this request stored it before an error. The id
   * derives from the request, so that its repetition completes the order and creates no other.
   */
  async function place(
    accountId: string,
    requestId: string | undefined,
  ): Promise<{ orderId: string; stored: SandboxOrder | null }> {
    if (requestId === undefined) return { orderId: sandboxOrderId(randomBytes(32)), stored: null }
    for (let use = 0; ; use += 1) {
      const orderId = sandboxOrderId(hash('sha256', `${requestId} ${use}`, 'buffer'))
      const stored = await sandbox.find(accountId, orderId)
      // A key that is used again after its life makes another order.
      if (stored === null || isRepeatable(stored.madeAt)) return { orderId, stored }
    }
  }

  /** @throws ManagementError `sandbox_full` */
  async function assertBelowLimit(accountId: string): Promise<void> {
    if ((await sandbox.count(accountId)) < maxOrders) return
    throw new ManagementError(
      'sandbox_full',
      `the sandbox of ${accountId} has ${maxOrders} orders, the most that it may have: erase one with "sandbox move ORDER_ID erase --account ${accountId}", and create again`,
    )
  }

  return {
    scenarios: sandboxScenarios,

    /**
     * `requestId`: that of the `Idempotency-Key`; its repetition completes an order whose write
     * failed. At the limit, concurrent calls to several processes may exceed it by one order each.
     * @throws ManagementError `invalid_scenario`, `sandbox_full`
     */
    async create(
      actor: Actor,
      { accountId, scenario: name }: { accountId: string; scenario: string },
      requestId?: string,
    ): Promise<SandboxOrder> {
      const scenario = sandboxScenarios.find(({ id }) => id === name)
      if (scenario === undefined) {
        const known = sandboxScenarios.map(({ id }) => id).join(', ')
        const message = `there is no scenario "${name}": choose one of ${known}`
        throw new ManagementError('invalid_scenario', message)
      }
      return oneAtATime(accountId, async () => {
        const { orderId, stored } = await place(accountId, requestId)
        if (stored === null) await assertBelowLimit(accountId)
        const order = stored ?? newSandboxOrder(accountId, orderId, scenario, clock())
        const intent = { action: 'sandbox_order.create', accountId, target: orderId } as const
        return audit.record(actor, intent, async () => {
          if (stored === null) await sandbox.insert(order)
          await write([order.source])
          return order
        })
      })
    },

    /**
     * Makes the next version of an order. A move whose write failed is completed by the next one,
     * or by its repetition with the same `requestId`, that of the `Idempotency-Key`. A repetition
     * after another move with a `requestId` is a new move.
     * @throws ManagementError `sandbox_order_missing`; ImpossibleMoveError
     */
    async move(
      actor: Actor,
      target: SandboxTarget,
      move: SandboxMove,
      requestId?: string,
    ): Promise<SandboxOrder> {
      const { accountId, orderId } = target
      const found = await find(target)
      if (!isMoved(found, requestId)) await assertPossible(found, move)
      const intent = { action: 'sandbox_order.change', accountId, target: orderId } as const
      return audit.record(actor, intent, async () => {
        for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
          const order = await find(target)
          if (isMoved(order, requestId)) {
            await write([order.source])
            return order
          }
          const before = await assertPossible(order, move)
          const nowMs = clock()
          const moved = {
            ...order,
            source: moveOrder(before, move, nowMs),
            ...(requestId !== undefined && { lastRequest: { id: requestId, at: nowMs } }),
          }
          if (!(await sandbox.replace(moved))) continue // Another move was first.
          await write([before, moved.source])
          return moved
        }
        throw new Unavailable(`other moves of ${orderId} continue: try again`)
      })
    },

    /** Newest first. */
    list: (query: SandboxList): Promise<SandboxOrder[]> => sandbox.list(query),
  }
}

/** Whether the text names a move. */
export function isSandboxMove(text: string): text is SandboxMove {
  return sandboxMoves.some((move) => move === text)
}
