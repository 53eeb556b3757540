import {
  ApiError,
  type ListParams,
  type OrderPage,
  type OrdersClient,
} from '../../client/client.ts'
import { isRefusedPath } from '../../client/get-account.ts'
import { monotonicClock } from '../../lib/clock.ts'
import { replaceControls } from '../../lib/text/control-characters.ts'
import { type Context, writeText } from '../context.ts'
import { CommandError, ResumableError } from '../errors.ts'
import { commandLine, count, duration, size } from '../terminal/format-text.ts'
import type { OrdersProgress } from '../terminal/progress.ts'
import { assembleFile } from './assemble-file.ts'
import type { Filters } from './filters.ts'
import type { Format } from './formats/format.ts'
import { CompleteFileError, type PartFile } from './part-file.ts'

export interface Export {
  client: OrdersClient
  filters: Filters
  format: Format
  progress: OrdersProgress
}

export interface FileExport extends Export {
  part: PartFile
  /** As typed. */
  file: string
  /** The command that continues the export. */
  resumeCommand: readonly string[]
}

/**
 * Writes every page to the part file, and renames it at the end.
 * @throws ResumableError if some orders are written
 */
export async function exportToFile(job: FileExport, { signal, status }: Context): Promise<void> {
  const { part, file, format, progress } = job
  const startedAt = monotonicClock()
  let bytes: number
  try {
    if (!part.state().isListed) {
      const isMasked = await masksPersonalData(job.client, signal)
      if (isMasked !== null) part.confirmMask(isMasked)
      for await (const page of pagesOf(job, part.state().cursor, signal)) {
        const head = part.state().bytes === 0 ? format.head : ''
        await part.append(head + encode(page, format), page.nextCursor, page.orders.length)
        progress.update(part.state().orders)
        signal.throwIfAborted()
      }
    }
    bytes = await part.finish(assembly(job, { signal, status }))
  } catch (error) {
    throw withNextStep(error, job)
  } finally {
    status.clear()
  }
  const { orders } = part.state()
  const elapsed = duration(monotonicClock() - startedAt)
  status.printLine(`${count(orders, 'pedido')} em ${file} (${size(bytes)}, ${elapsed})`)
}

/** Whether the key reads orders without personal data; `null` where the API does not show it. */
async function masksPersonalData(client: OrdersClient, signal: AbortSignal) {
  try {
    const { key } = await client.account.get({ signal })
    return key.scopes.includes('orders:read_masked')
  } catch (error) {
    if (isRefusedPath(error)) return null
    throw error
  }
}

/** How the final file is made from the part; `undefined` if it is the part. */
function assembly(
  { format: { assemble }, part }: FileExport,
  { signal, status }: Pick<Context, 'signal' | 'status'>,
): Parameters<PartFile['finish']>[0] {
  if (assemble === undefined) return undefined
  const total = part.state().orders
  let orders = 0
  return (from, to) =>
    assembleFile(from, to, assemble, () => {
      signal.throwIfAborted()
      status.show(`montando o arquivo: ${Math.floor((100 * ++orders) / total)}%`)
    })
}

/**
 * Writes every page to stdout, until the last one or until the reader closes the pipe.
 * @throws ResumableError if some orders are written
 */
export async function exportToStdout(job: Export, context: Context): Promise<void> {
  const { format, progress } = job
  const { signal, status, stdout } = context
  const startedAt = monotonicClock()
  const showsProgress = !stdout.isTTY // A terminal shows the orders themselves.
  let orders = 0
  let head = format.head
  try {
    for await (const page of pagesOf(job, null, signal)) {
      const text = head + encode(page, format)
      const shown = stdout.isTTY ? replaceControls(text) : text
      if ((await writeText(stdout, shown)) === 'closed') return
      head = ''
      orders += page.orders.length
      if (showsProgress) progress.update(orders)
      signal.throwIfAborted()
    }
  } catch (error) {
    if (orders === 0) throw error
    throw new ResumableError(
      error,
      `A saída ficou incompleta: só ${count(orders, 'pedido')}. Com --out ARQUIVO, uma exportação pode ser continuada com --resume.`,
    )
  } finally {
    status.clear()
  }
  status.printLine(`${count(orders, 'pedido')} em ${duration(monotonicClock() - startedAt)}`)
}

function pagesOf(
  { client, filters }: Export,
  cursor: string | null,
  signal: AbortSignal,
): AsyncIterable<OrderPage> {
  // The API validates the filters, which are as typed.
  const params = { ...filters, ...(cursor !== null && { cursor }) } as ListParams
  return client.orders.list(params, { signal }).pages()
}

const encode = ({ orders }: OrderPage, format: Format) =>
  orders.map((order) => format.encode(order)).join('')

function withNextStep(error: unknown, { part, file, resumeCommand }: FileExport): unknown {
  const { bytes, orders, cursor } = part.state()
  if (bytes === 0 || error instanceof CompleteFileError) return error
  if (error instanceof ApiError && error.param === 'cursor' && cursor !== null) {
    return new CommandError(
      `O serviço não aceita mais o ponto em que ${file}.part parou: é de outra conta, ou a plataforma trocou os segredos dos cursores. ${file}.part ficou como estava; para começar de novo, apague ou mova esse arquivo e repita o comando sem --resume. (${error.message})`,
    )
  }
  const isAuthError = error instanceof ApiError && (error.status === 401 || error.status === 403)
  const start = isAuthError ? 'Com uma chave válida, continue com' : 'Para continuar'
  return new ResumableError(
    error,
    `Pedidos já guardados em ${file}.part: ${orders.toLocaleString('pt-BR')}. ${start}:\n  ${commandLine(resumeCommand)}`,
  )
}
