import { monotonicClock } from '../../lib/clock.ts'
import { oneOf, parseArguments, refuseWords } from '../arguments.ts'
import { addressOf, connect } from '../connect.ts'
import type { Context } from '../context.ts'
import { UsageFault } from '../faults.ts'
import { createOrdersProgress } from '../terminal/progress.ts'
import { filterOptions, filtersOf } from './filters.ts'
import { createFormat, formatNames } from './formats/format.ts'
import { rowsNames } from './formats/table.ts'
import { openPartFile } from './part-file.ts'
import { exportToFile } from './to-file.ts'
import { exportToStdout } from './to-stdout.ts'

const options = {
  ...filterOptions,
  url: 'text',
  format: 'text',
  rows: 'text',
  out: 'text',
  resume: 'flag',
} as const

/** `orders export`: every order that matches, into a file or to stdout. */
export async function runExport(args: readonly string[], context: Context): Promise<void> {
  const { text, flags, words } = parseArguments('export', args, options)
  refuseWords('export', words)
  const formatName = oneOf('export', '--format', text.format, formatNames)
  const rows = oneOf('export', '--rows', text.rows ?? 'orders', rowsNames)
  if (formatName === 'ndjson' && text.rows !== undefined) {
    throw new UsageFault(
      '--rows é só para csv e csv-br: em ndjson cada linha é um pedido.',
      'export',
    )
  }
  if (flags.has('resume') && text.out === undefined) {
    throw new UsageFault('--resume precisa de --out: só um arquivo guarda até onde foi.', 'export')
  }
  const url = addressOf('export', text.url, context.env)
  const filters = filtersOf(text)
  const format = createFormat(formatName, rows)

  if (text.out === undefined) {
    const progress = createOrdersProgress(context.status, monotonicClock)
    const client = await connect(context, url, progress.wait)
    await exportToStdout({ client, filters, format, progress }, context)
    return
  }
  const asked = { url, filters, format: formatName, rows }
  const part = await openPartFile(text.out, asked, flags.has('resume'))
  try {
    const progress = createOrdersProgress(context.status, monotonicClock, part.state().orders)
    const client = await connect(context, url, progress.wait)
    const again = ['orders', 'export', '--resume', ...args.filter((arg) => arg !== '--resume')]
    const work = { client, filters, format, progress, part, file: text.out, again }
    if (flags.has('resume') && !part.isResumed) {
      context.status.printLine(`Não há nada a continuar em ${text.out}.part: começando do início.`)
    }
    await exportToFile(work, context)
  } finally {
    await part.close()
  }
}
