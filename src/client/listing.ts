import { UnexpectedAnswerError, UsageError } from './errors.ts'
import type { ListParams, Order, OrderList } from './schema.ts'
import type { Transport } from './transport.ts'

export interface OrderPage {
  orders: readonly Order[]
  /** Leads to the next page, also in another process, at any time later; `null` on the last one. */
  nextCursor: string | null
}

/** Orders, one by one: `for await (const order of listing)`; each loop reads anew from the beginning. */
export interface OrderListing extends AsyncIterable<Order> {
  /** The same by the page, for who wants to keep the cursor. */
  pages(): AsyncIterable<OrderPage>
}

/** As large as there are: each page is one request of the account's bucket. */
const LIMIT = 100

/** All orders that match, a page at a time as they are asked for (contract, "Paging procedure"). */
export function createListing(
  transport: Transport,
  params: ListParams,
  signal?: AbortSignal,
): OrderListing {
  async function* pages(): AsyncGenerator<OrderPage> {
    let cursor = params.cursor ?? null
    do {
      const query = queryOf({ limit: LIMIT, ...params, ...(cursor !== null && { cursor }) })
      const page = readPage(await transport.get('/v1/orders', query, signal), cursor)
      yield page
      cursor = page.nextCursor
    } while (cursor !== null)
  }

  return {
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const { orders } of pages()) yield* orders
    },
  }
}

/** Parameters as a query string: lists by comma, dates as instants; those that are `undefined` are left out. */
export function queryOf(params: ListParams): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined) continue
    query.set(name, value instanceof Date ? instantOf(name, value) : String(value))
  }
  return query
}

function instantOf(name: string, date: Date): string {
  if (!Number.isNaN(date.getTime())) return date.toISOString()
  throw new UsageError(`${name}: a data não é válida (Invalid Date).`)
}

/** Of an order, no more is looked at than what the client stands on; the rest may grow. */
export function isOrder(value: unknown): value is Order {
  const { object, id, updated_at } = (value ?? {}) as Partial<Order>
  const isDated = updated_at === null || !Number.isNaN(Date.parse(`${updated_at}`))
  return object === 'order' && typeof id === 'string' && id !== '' && isDated
}

/** @throws UnexpectedAnswerError for what is no page, or leads nowhere */
function readPage(body: unknown, cursor: string | null): OrderPage {
  const { object, data, has_more, next_cursor } = (body ?? {}) as Partial<OrderList>
  const isList = object === 'list' && Array.isArray(data) && data.every(isOrder)
  if (isList && has_more === false && next_cursor === null)
    return { orders: data, nextCursor: null }
  const leadsOn = typeof next_cursor === 'string' && next_cursor !== '' && next_cursor !== cursor
  if (isList && has_more === true && leadsOn) return { orders: data, nextCursor: next_cursor }
  throw new UnexpectedAnswerError(
    'A resposta a /v1/orders não é uma página de pedidos. Confira o endereço da API.',
    { status: 200, requestId: null },
  )
}
