import type { Wait } from '../../client/client.ts'
import { isRateLimited } from '../../client/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { StatusLine } from '../../lib/status-line.ts'
import { count } from './format-text.ts'

/** Shorter waits are not shown. */
const MIN_SHOWN_WAIT_MS = 1_000

export interface OrdersProgress {
  /** Shows the number of orders so far. */
  update(orders: number): void
  /** Shows the reason of a wait, once per reason until orders arrive. */
  wait(wait: Wait): void
  /** Shows that the API is down, once until it is back. */
  fail(line: string): void
  /** Shows that the API is back, if it was shown to be down. */
  recover(): void
}

/**
 * Shows the progress of a listing. `clock`: monotonic milliseconds. `before`: orders of earlier
 * processes, which do not count for the rate.
 */
export function createOrdersProgress(
  status: Pick<StatusLine, 'show' | 'printLine'>,
  clock: Clock,
  before = 0,
): OrdersProgress {
  const startedAt = clock()
  const shown = new Set<string>()
  let isDown = false

  function recover() {
    shown.clear()
    if (isDown) status.printLine('A API voltou a responder.')
    isDown = false
  }

  return {
    recover,
    update(orders) {
      recover()
      const seconds = (clock() - startedAt) / 1000
      const rate = seconds > 0 ? Math.round((orders - before) / seconds) : 0
      status.show(`${count(orders, 'pedido')} · ${rate.toLocaleString('pt-BR')}/s`)
    },
    wait({ waitMs, error }) {
      if (waitMs < MIN_SHOWN_WAIT_MS || shown.has(error.name)) return
      shown.add(error.name)
      isDown ||= !isRateLimited(error)
      status.printLine(`esperando ${Math.ceil(waitMs / 1000)} s: ${error.message}`)
    },
    fail(line) {
      if (!shown.has('fail')) status.printLine(line)
      shown.add('fail')
      isDown = true
    },
  }
}
