import { ApiError, type ListParams, type OrdersClient } from '../../client/client.ts'
import { monotonicClock } from '../../lib/clock.ts'
import type { Context } from '../context.ts'
import { Failure, Unfinished } from '../faults.ts'
import type { OrdersProgress } from '../terminal/progress.ts'
import { commandLine, count, size, span } from '../terminal/words.ts'
import type { Filters } from './filters.ts'
import type { Format } from './formats/format.ts'
import type { PartFile } from './part-file.ts'

export interface Export {
  client: OrdersClient
  filters: Filters
  format: Format
  progress: OrdersProgress
}

export interface FileExport extends Export {
  part: PartFile
  /** As it was typed. */
  file: string
  /** The words of the command that goes on from here. */
  again: readonly string[]
}

/**
 * Writes every page to the part, which gets its name when all are in.
 * @throws Unfinished with what to do, where orders are kept already
 */
export async function exportToFile(work: FileExport, { signal, status }: Context): Promise<void> {
  const { part, file, progress } = work
  const startedAt = monotonicClock()
  try {
    await readPages(work, signal)
    await part.finish()
  } catch (error) {
    throw toldHow(error, work)
  } finally {
    status.clear()
  }
  const { orders, bytes } = part.state()
  status.printLine(
    `${count(orders, 'pedido')} em ${file} (${size(bytes)}, ${span(monotonicClock() - startedAt)})`,
  )

  async function readPages({ client, filters, format }: FileExport, until: AbortSignal) {
    const { cursor, isListed } = part.state()
    if (isListed) return
    const params = { ...filters, ...(cursor !== null && { cursor }) } as ListParams
    for await (const page of client.orders.list(params, { signal: until }).pages()) {
      const head = part.state().bytes === 0 ? format.head : ''
      const text = head + page.orders.map((order) => format.encode(order)).join('')
      await part.append(text, page.nextCursor, page.orders.length)
      progress.update(part.state().orders)
      until.throwIfAborted()
    }
  }
}

function toldHow(error: unknown, { part, file, again }: FileExport): unknown {
  const { bytes, orders, cursor } = part.state()
  if (bytes === 0) return error
  if (error instanceof ApiError && error.param === 'cursor' && cursor !== null) {
    return new Failure(
      `O serviço não aceita mais o ponto em que ${file}.part parou: é de outra conta, ou antigo demais. ${file}.part ficou como estava; para começar de novo, apague ou mova esse arquivo e repita o comando sem --resume. (${error.message})`,
    )
  }
  const isRefused = error instanceof ApiError && (error.status === 401 || error.status === 403)
  const first = isRefused ? 'Com uma chave que valha, continue com' : 'Para continuar'
  return new Unfinished(
    error,
    `Pedidos já guardados em ${file}.part: ${orders.toLocaleString('pt-BR')}. ${first}:\n  ${commandLine(again)}`,
  )
}
