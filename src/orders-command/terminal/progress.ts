import type { Wait } from '../../client/client.ts'
import type { Clock } from '../../lib/clock.ts'
import type { StatusLine } from '../../lib/status-line.ts'
import { count } from './words.ts'

/** Shorter waits are no news. */
const WORTH_TELLING_MS = 1_000

export interface OrdersProgress {
  /** So many orders are there; of those before this process none were read at its speed. */
  update(orders: number): void
  /** Tells why nothing comes, once until something does. */
  wait(wait: Wait): void
}

/** Shows how a reading of orders goes on. `clock`: monotonic milliseconds. */
export function createOrdersProgress(
  status: Pick<StatusLine, 'show' | 'printLine'>,
  clock: Clock,
  before = 0,
): OrdersProgress {
  const startedAt = clock()
  const told = new Set<string>()

  return {
    update(orders) {
      told.clear()
      const seconds = (clock() - startedAt) / 1000
      const rate = seconds > 0 ? Math.round((orders - before) / seconds) : 0
      status.show(`${count(orders, 'pedido')} · ${rate.toLocaleString('pt-BR')}/s`)
    },
    wait({ waitMs, error }) {
      if (waitMs < WORTH_TELLING_MS || told.has(error.name)) return
      told.add(error.name)
      status.printLine(`esperando ${Math.ceil(waitMs / 1000)} s: ${error.message}`)
    },
  }
}
