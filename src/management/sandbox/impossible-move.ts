import { ManagementError } from '../management-error.ts'
import type { SandboxMove } from './sandbox-moves.ts'

/** A move that an order of a sandbox does not allow. */
export class ImpossibleMoveError extends ManagementError {
  readonly orderId: string
  /** The moves that it allows; none once it is erased. */
  readonly possible: readonly SandboxMove[]

  constructor(rejected: { orderId: string; move: SandboxMove; possible: readonly SandboxMove[] }) {
    const { orderId, move, possible } = rejected
    const next =
      possible.length === 0
        ? 'it is erased, and no move is possible: create another one'
        : `possible are ${possible.join(', ')}`
    super('impossible_move', `${orderId} does not allow "${move}": ${next}`)
    this.name = 'ImpossibleMoveError'
    this.orderId = orderId
    this.possible = possible
  }
}
