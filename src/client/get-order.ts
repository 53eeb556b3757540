import { ApiError, UnexpectedResponseError, UsageError } from './errors.ts'
import type { Transport } from './http/transport.ts'
import { isOrder } from './listing.ts'
import type { Order } from './schema.ts'

/**
 * One order.
 * @throws UsageError for an impossible id; ApiError `resource_missing` if it is missing or another
 *   account's
 */
export async function getOrder(
  transport: Transport,
  id: string,
  signal?: AbortSignal,
): Promise<Order> {
  if (typeof id !== 'string' || !/^[A-Za-z0-9_-]+$/.test(id)) {
    throw new UsageError(`"${id}" não é o id de um pedido.`)
  }
  const path = `/v1/orders/${id}`
  const { body, requestId } = await transport.get(path, new URLSearchParams(), signal)
  if (isOrder(body)) return body
  throw new UnexpectedResponseError('A resposta não é um pedido. Confira o endereço da API.', {
    status: 200,
    requestId,
  })
}

/** One order; `null` if it is missing or another account's. */
export async function findOrder(
  transport: Transport,
  id: string,
  signal?: AbortSignal,
): Promise<Order | null> {
  try {
    return await getOrder(transport, id, signal)
  } catch (error) {
    if (error instanceof ApiError && error.code === 'resource_missing') return null
    throw error
  }
}
