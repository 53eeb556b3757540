import type { Wait } from '../../client/client.ts'
import { isRateLimited } from '../../client/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { StatusLine } from '../../lib/status-line.ts'
import { count } from './format-text.ts'

const API_BACK = 'A API voltou a responder.'
/** Shorter waits are not shown. */
const MIN_SHOWN_WAIT_MS = 1_000

export interface OrdersProgress {
  /** Shows the number of orders so far. */
  update(orders: number): void
  /** Shows the reason of a wait, once per reason until orders arrive. */
  wait(wait: Wait): void
  /** Shows a failure, by default of the API, once until `recover` shows its end as `end`. */
  fail(line: string, end?: string): void
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
  /** The lines to show once the failures have ended. */
  const recoveries = new Set<string>()

  function recover() {
    shown.clear()
    for (const line of recoveries) status.printLine(line)
    recoveries.clear()
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
      if (!isRateLimited(error)) recoveries.add(API_BACK)
      status.printLine(`esperando ${Math.ceil(waitMs / 1000)} s: ${error.message}`)
    },
    fail(line, end = API_BACK) {
      if (!shown.has(end)) status.printLine(line)
      shown.add(end)
      recoveries.add(end)
    },
  }
}
