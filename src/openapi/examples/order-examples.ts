import { projectOrder } from '../../indexing/projection/order-views.ts'
import type { SourceOrder } from '../../indexing/projection/source-order.ts'
import { formatInstant, toEpochMs } from '../../lib/instant.ts'
import { maskOrder } from '../../orders/mask-order.ts'
import type { Order } from '../../orders/order.ts'
import { EXAMPLE_ACCOUNT } from './base-order.ts'
import { coproducedOrder, declinedOrder, paidPixOrder } from './source-orders.ts'

/** The example as its account reads it. @throws Error when the account has no view of it */
export function viewOf(source: SourceOrder): Order & { updated_at: string } {
  const view = projectOrder(source).views.find(({ accountId }) => accountId === EXAMPLE_ACCOUNT)
  if (view === undefined) throw new Error(`the example ${source.id} is not visible`)
  return { ...view.order, updated_at: formatInstant(toEpochMs(source.changed_at ?? '')) }
}

/** Whole orders, as the service returns them: projected, so that their fields agree. */
const orders = {
  pix_pago: { summary: 'Um PIX pago', order: viewOf(paidPixOrder) },
  cartao_recusado: { summary: 'Um cartão recusado', order: viewOf(declinedOrder) },
  sem_dados_pessoais: {
    summary: 'O mesmo PIX, com uma chave orders:read_masked',
    order: maskedView(viewOf(paidPixOrder)),
  },
  coprodutor: { summary: 'A visão de um coprodutor', order: viewOf(coproducedOrder) },
} as const

function maskedView(order: Order): Order {
  const masked = maskOrder(order.id, Buffer.from(JSON.stringify(order)))
  return JSON.parse(Buffer.from(masked).toString())
}

/** Examples of `GET /v1/orders/{id}`. Mock servers return the first. */
export const orderExamples = examplesOf((order) => order)

/** Examples of `GET /v1/orders`: last pages, so that a client of a mock server stops. */
export const orderListExamples = {
  ...examplesOf((order) => page([order])),
  vazia: { summary: 'Nenhum pedido', value: page([]) },
}

function examplesOf<T>(bodyOf: (order: Order) => T) {
  return Object.fromEntries(
    Object.entries(orders).map(([name, { summary, order }]) => [
      name,
      { summary, value: bodyOf(order) },
    ]),
  )
}

function page(data: Order[]) {
  return { object: 'list', data, has_more: false, next_cursor: null }
}
