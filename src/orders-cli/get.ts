import { monotonicClock } from '../lib/clock.ts'
import { escapeControls } from '../lib/text/control-characters.ts'
import { parseArguments, rejectExtraArgs } from './arguments.ts'
import { type Context, connect, resolveBaseUrl, writeText } from './context.ts'
import { CommandLineError } from './errors.ts'
import { createOrdersProgress } from './terminal/progress.ts'

/** The options of `orders get`. */
export const getOptions = { url: 'text' } as const

/** `orders get`: prints one order as JSON. */
export async function runGet(args: readonly string[], context: Context): Promise<void> {
  const { text, words } = parseArguments(args, getOptions)
  const [id, ...extra] = words
  if (id === undefined) throw new CommandLineError('Falta o id do pedido.')
  rejectExtraArgs(extra)
  const url = resolveBaseUrl(text.url, context.env)
  const { wait } = createOrdersProgress(context.status, monotonicClock)
  const client = await connect(context, url, wait)
  const order = await client.orders.get(id, { signal: context.signal })
  await writeText(context.stdout, `${escapeControls(JSON.stringify(order, null, 2))}\n`)
}
