import { monotonicClock } from '../lib/clock.ts'
import { parseArguments, refuseWords } from './arguments.ts'
import { addressOf, connect } from './connect.ts'
import type { Context } from './context.ts'
import { UsageFault } from './faults.ts'
import { writeOut } from './output.ts'
import { createOrdersProgress } from './terminal/progress.ts'

/** `orders get`: one order, as JSON. */
export async function runGet(args: readonly string[], context: Context): Promise<void> {
  const { text, words } = parseArguments('get', args, { url: 'text' })
  const [id, ...more] = words
  if (id === undefined) throw new UsageFault('Falta o id do pedido.', 'get')
  refuseWords('get', more)
  const url = addressOf('get', text.url, context.env)
  const { wait } = createOrdersProgress(context.status, monotonicClock)
  const client = await connect(context, url, wait)
  const order = await client.orders.get(id, { signal: context.signal })
  await writeOut(`${JSON.stringify(order, null, 2)}\n`)
}
