import { extname } from 'node:path'
import { monotonicClock } from '../../lib/clock.ts'
import { parseArguments, parseChoice, rejectExtraArgs } from '../arguments.ts'
import { type Context, connect, resolveBaseUrl } from '../context.ts'
import { resolveDates } from '../dates/date-options.ts'
import { CommandLineError } from '../errors.ts'
import { followLink } from '../follow-link.ts'
import { createOrdersProgress } from '../terminal/progress.ts'
import { filterOptions, filtersOf } from './filters.ts'
import {
  createFormat,
  type FormatName,
  formatNames,
  formatsOfExtensions,
} from './formats/format.ts'
import { headersNames, rowsNames } from './formats/table.ts'
import { loadXlsxWriter } from './formats/xlsx.ts'
import { openPartFile } from './part-file.ts'
import { exportToFile, exportToStdout } from './write.ts'

/** The options of `orders export`. */
export const exportOptions = {
  ...filterOptions,
  url: 'text',
  format: 'text',
  rows: 'text',
  headers: 'text',
  out: 'text',
  resume: 'flag',
} as const

/** `orders export`: writes every order that matches to a file or to stdout. */
export async function runExport(args: readonly string[], context: Context): Promise<void> {
  const { text: typed, flags, words } = parseArguments(args, exportOptions)
  rejectExtraArgs(words)
  const text = resolveDates(typed, (line) => context.status.printLine(line))
  const formatName = parseChoice('--format', text.format, formatNames)
  const rows = parseChoice('--rows', text.rows ?? 'orders', rowsNames)
  const headers = parseChoice('--headers', text.headers ?? 'api', headersNames)
  if (formatName === 'ndjson' && (text.rows ?? text.headers) !== undefined) {
    throw new CommandLineError(
      '--rows e --headers são só para csv, csv-br e xlsx: em ndjson cada linha é um pedido.',
    )
  }
  if (formatName === 'xlsx' && text.out === undefined) {
    throw new CommandLineError('--format xlsx precisa de --out ARQUIVO: um terminal não o mostra.')
  }
  if (text.out !== undefined) rejectOtherExtension(formatName, text.out)
  if (formatName === 'xlsx') await loadXlsxWriter() // Before any order is read.
  if (flags.has('resume') && text.out === undefined) {
    throw new CommandLineError(
      '--resume precisa de --out: só uma exportação em arquivo pode continuar.',
    )
  }
  const url = resolveBaseUrl(text.url, context.env)
  const filters = filtersOf(text, flags)
  const format = createFormat(formatName, { rows, headers })

  if (text.out === undefined) {
    const progress = createOrdersProgress(context.status, monotonicClock)
    const client = await connect(context, url, progress.wait)
    await exportToStdout({ client, filters, format, progress }, context)
    return
  }
  const request = { url, filters, format: formatName, rows, ...(headers === 'pt' && { headers }) }
  const file = await followLink(text.out, context.cwd)
  const part = await openPartFile(file, request, flags.has('resume'), context.cwd, {
    ...context,
    head: format.head,
  })
  try {
    const progress = createOrdersProgress(context.status, monotonicClock, part.state().orders)
    const client = await connect(context, url, progress.wait)
    const resumeCommand = [
      ...context.program,
      'export',
      '--resume',
      ...args.filter((arg) => arg !== '--resume'),
    ]
    const work = { client, filters, format, progress, part, file, resumeCommand }
    if (flags.has('resume') && !part.isResumed) {
      context.status.printLine(`Não há o que continuar em ${file}.part: começando do início.`)
    }
    await exportToFile(work, context)
  } finally {
    await part.close()
  }
}

/** Excel refuses an xlsx file that is named csv, and the reverse. @throws UsageError */
function rejectOtherExtension(format: FormatName, out: string): void {
  const extension = extname(out)
  const formats = formatsOfExtensions.get(extension.toLowerCase()) ?? [format]
  if (formats.includes(format)) return
  const own = [...formatsOfExtensions].find(([, some]) => some.includes(format))?.[0] ?? ''
  const renamed = out.slice(0, -extension.length) + own
  throw new CommandLineError(
    `--format ${format} não combina com --out ${out}. Use --out ${renamed}, ou --format ${formats.join(' ou ')}.`,
  )
}
