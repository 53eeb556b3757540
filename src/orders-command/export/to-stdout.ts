import type { ListParams } from '../../client/client.ts'
import { monotonicClock } from '../../lib/clock.ts'
import type { Context } from '../context.ts'
import { Unfinished } from '../faults.ts'
import { writeOut } from '../output.ts'
import { count, span } from '../terminal/words.ts'
import type { Export } from './to-file.ts'

/**
 * Writes every page to stdout, until the last one or until nobody reads any more.
 * @throws Unfinished where orders were written already
 */
export async function exportToStdout(
  { client, filters, format, progress }: Export,
  { signal, status }: Context,
): Promise<void> {
  const startedAt = monotonicClock()
  const showsOrders = !process.stdout.isTTY // On a terminal the orders themselves are seen.
  let orders = 0
  let head = format.head
  try {
    for await (const page of client.orders.list(filters as ListParams, { signal }).pages()) {
      const text = head + page.orders.map((order) => format.encode(order)).join('')
      head = ''
      if ((await writeOut(text)) === 'closed') return
      orders += page.orders.length
      if (showsOrders) progress.update(orders)
      signal.throwIfAborted()
    }
  } catch (error) {
    if (orders === 0) throw error
    throw new Unfinished(
      error,
      `A saída ficou incompleta: só ${count(orders, 'pedido')}. Com --out ARQUIVO uma exportação pode ser continuada com --resume.`,
    )
  } finally {
    status.clear()
  }
  status.printLine(`${count(orders, 'pedido')} em ${span(monotonicClock() - startedAt)}`)
}
