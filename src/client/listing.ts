import { UnexpectedResponseError, UsageError } from './errors.ts'
import type { JsonResponse } from './http/response.ts'
import type { Transport } from './http/transport.ts'
import type { ListParams, Order, OrderList } from './schema.ts'

export interface OrderPage {
  orders: readonly Order[]
  /** Requests the next page, also later and from another process; `null` on the last page. */
  nextCursor: string | null
}

/** `for await (const order of listing)`; each loop starts at the first page. */
export interface OrderListing extends AsyncIterable<Order> {
  /** The same orders page by page, for callers that store the cursor. */
  pages(): AsyncIterable<OrderPage>
  /** A listing is no promise. @throws UsageError, for `await` */
  then(never: never): never
}

/** The maximum of the API, since each page costs one request of the account's bucket. */
export const ORDERS_PER_PAGE = 100

/**
 * All orders that match, requested page by page as the loop advances (guide, "Paginação"). After a
 * timeout the page is requested with half as many orders: on a slow connection, a full one may take
 * longer than a try. Each later page has one more again, up to the limit.
 */
export function createListing(
  transport: Transport,
  params: ListParams,
  signal?: AbortSignal,
): OrderListing {
  async function* pages(): AsyncGenerator<OrderPage> {
    const { limit: wanted = ORDERS_PER_PAGE } = params
    let cursor = params.cursor ?? null
    let limit = wanted
    do {
      const full = limit
      const query = (timeouts: number) => {
        limit = timeouts === 0 ? full : Math.max(1, Math.floor(full / 2 ** timeouts))
        return toQuery({ ...params, limit, ...(cursor !== null && { cursor }) })
      }
      const page = parsePage(await transport.get('/v1/orders', query, signal), cursor)
      yield page
      cursor = page.nextCursor
      if (limit < wanted) limit++
    } while (cursor !== null)
  }

  return {
    pages,
    // biome-ignore lint/suspicious/noThenProperty: an awaited listing would look like an empty list
    then() {
      throw new UsageError(
        'list() não devolve uma promessa: percorra com "for await (const order of orders.list())", sem await antes de list(); por página, com .pages().',
      )
    },
    async *[Symbol.asyncIterator]() {
      for await (const { orders } of pages()) yield* orders
    },
  }
}

/** A query string: lists joined by commas, dates as instants, `undefined` left out. */
function toQuery(params: ListParams): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined) continue
    query.set(name, value instanceof Date ? formatDate(name, value) : String(value))
  }
  return query
}

function formatDate(name: string, date: Date): string {
  if (!Number.isNaN(date.getTime())) return date.toISOString()
  throw new UsageError(`${name}: a data não é válida (Invalid Date).`)
}

/** Checks only the fields that the client itself reads, so that the API can add others. */
export function isOrder(value: unknown): value is Order {
  const { object, id, updated_at } = (value ?? {}) as Partial<Order>
  const isDated = updated_at === null || !Number.isNaN(Date.parse(`${updated_at}`))
  return object === 'order' && typeof id === 'string' && id !== '' && isDated
}

/** @throws UnexpectedResponseError for anything else, and for a page whose cursor is its own */
function parsePage({ body, requestId }: JsonResponse, cursor: string | null): OrderPage {
  const { object, data, has_more, next_cursor } = (body ?? {}) as Partial<OrderList>
  const isList = object === 'list' && Array.isArray(data) && data.every(isOrder)
  if (isList && has_more === false && next_cursor === null)
    return { orders: data, nextCursor: null }
  const advances = typeof next_cursor === 'string' && next_cursor !== '' && next_cursor !== cursor
  if (isList && has_more === true && advances) return { orders: data, nextCursor: next_cursor }
  throw new UnexpectedResponseError(
    'A resposta de /v1/orders não é uma página de pedidos. Confira o endereço da API.',
    { status: 200, requestId },
  )
}
