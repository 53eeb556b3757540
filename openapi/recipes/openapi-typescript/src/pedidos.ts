import createClient from 'openapi-fetch'
import { fetchWithRetry } from './fetch-with-retry.js'
import type { components, operations, paths } from './schema.js'

type Order = components['schemas']['Order']
type Filters = Omit<NonNullable<operations['orders_list']['parameters']['query']>, 'cursor'>

const client = createClient<paths>({
  baseUrl: setting('ORDERS_API_URL'),
  headers: { Authorization: `Bearer ${setting('ORDERS_API_KEY')}` },
  fetch: fetchWithRetry,
  redirect: 'error',
  querySerializer: { array: { style: 'form', explode: false } },
})

/** Cada pedido que passa pelos filtros, página por página. Valores em centavos, como a API os dá. */
export async function* orders(filters: Filters = {}): AsyncGenerator<Order> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = { limit: 100, ...filters, ...(cursor && { cursor }) }
    const { data, error, response } = await client.GET('/v1/orders', { params: { query } })
    if (data === undefined) throw new Error(reasonOf(response.status, error))
    yield* data.data
    cursor = data.next_cursor
  }
}

/** Sem os três caracteres em que o readline do Node ou o splitlines do Python quebrariam a linha. */
function lineOf(order: Order): string {
  const escaped = (found: string) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`
  return `${JSON.stringify(order).replace(/[\u0085\u2028\u2029]/g, escaped)}\n`
}

/** O que a API disse, ou, da borda, que recusa sem JSON, e de outro servidor, o que conferir. */
function reasonOf(status: number, error: unknown): string {
  const reason = (error as Partial<components['schemas']['Error']> | undefined)?.error
  if (reason?.message) return `${status} ${reason.message} (request_id ${reason.request_id})`
  return `A API recusou com ${status}, sem dizer por quê. Confira se ORDERS_API_URL começa com https://.`
}

function setting(name: string): string {
  const value = process.env[name]?.trim()
  if (!value) throw new Error(`Falta a variável de ambiente ${name}.`)
  return value
}

try {
  for await (const order of orders()) process.stdout.write(lineOf(order))
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}
