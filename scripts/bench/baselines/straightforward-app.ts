import rateLimit from '@fastify/rate-limit'
import type { Client } from '@opensearch-project/opensearch'
import { type Static, Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Redis } from 'ioredis'
import { keyDigest } from '../../../src/auth/api-key.ts'
import { noFilters } from '../../../src/orders/filters/filters.ts'
import { Order } from '../../../src/orders/order.ts'
import { type PageQuery, type Sort, sorts } from '../../../src/orders/order-store.ts'
import type { IndexNames } from '../../../src/stores/opensearch/indices/index-names.ts'
import { buildSearch } from '../../../src/stores/opensearch/read/search-body.ts'

export interface StraightforwardOptions {
  client: Client
  redis: Redis
  /** Of every key in Redis. */
  redisPrefix: string
  names: IndexNames
  keyPepper: Uint8Array
}

interface Found {
  hits: { hits: { _source: { order: Order }; sort: [key: number, id: string] }[] }
}

const querystring = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
  sort: Type.Unsafe<Sort>({ type: 'string', enum: sorts, default: sorts[0] }),
  cursor: Type.Optional(Type.String()),
})
const list = Type.Object({
  object: Type.String(),
  data: Type.Array(Order),
  has_more: Type.Boolean(),
  next_cursor: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
})
const schema = { querystring, response: { 200: list } }
/** A rate limit that no load reaches. */
const LIMIT = { max: 1_000_000, timeWindow: 1_000 }

/**
 * The listing in its usual implementation: the official client, which parses the response; orders
 * mapped from the hits; an object that Fastify serializes by its schema; the published rate limit
 * on Redis; a log line for each request. The searches are those of the service, so only the process
 * differs.
 */
export async function buildStraightforward(
  options: StraightforwardOptions,
): Promise<FastifyInstance> {
  const { client, redis, redisPrefix, names, keyPepper } = options
  const app = Fastify({ logger: true, disableRequestLogging: true })
  const accounts = new Map<string | undefined, string>()

  app.addHook('onRequest', async ({ headers: { authorization } }, reply) => {
    if (accounts.has(authorization)) return
    const id = keyDigest(keyPepper, authorization?.replace('Bearer ', '') ?? '')
    const { body } = await client.get({ index: names.keys, id }, { ignore: [404] })
    if (!body.found) return reply.code(401).send({ error: 'unknown key' })
    accounts.set(authorization, body._source?.['account_id'])
  })
  app.addHook('onResponse', async (request, reply) => {
    const { statusCode, elapsedTime } = reply
    request.log.info({ req: request, statusCode, responseTime: elapsedTime }, 'request completed')
  })
  await app.register(rateLimit, {
    ...LIMIT,
    redis,
    nameSpace: `${redisPrefix}straightforward-`,
    keyGenerator: ({ headers }) => accounts.get(headers.authorization) ?? '',
  })

  app.get<{ Querystring: Static<typeof querystring> }>(
    '/v1/orders',
    { schema },
    async (request) => {
      const accountId = accounts.get(request.headers.authorization) ?? ''
      const { limit, sort, cursor } = request.query
      const place = { accountId, sort, limit, after: cursor ? readCursor(cursor) : null }
      const { body } = await client.search(searchRequest(names.orders, place))
      const found = (body as unknown as Found).hits.hits
      const page = found.slice(0, limit)
      const last = page.at(-1)
      const next_cursor = last && found.length > limit ? writeCursor(last.sort) : null
      const data = page.map(({ _source }) => _source.order)
      return { object: 'list', data, has_more: next_cursor !== null, next_cursor }
    },
  )
  return app
}

interface PageAt extends Pick<PageQuery, 'accountId' | 'sort' | 'after'> {
  limit: number
}

/** The service's search for the page, in the form of the official client. */
export function searchRequest(index: string, { accountId, sort, after, limit }: PageAt) {
  const slice = { accountId, sort, filters: noFilters, after, nullsWrittenAfter: null }
  return {
    index,
    routing: accountId,
    preference: sort === 'updated_at_asc' ? '_primary' : `account-${accountId}`,
    allow_partial_search_results: false,
    body: buildSearch({ ...slice, size: limit + 1 }),
  }
}

/** Encodes the sort values of the last order of a page. */
export function writeCursor(sort: [key: number, id: string]): string {
  return Buffer.from(JSON.stringify(sort)).toString('base64url')
}

function readCursor(cursor: string): { key: number; id: string } {
  const [key, id]: [number, string] = JSON.parse(Buffer.from(cursor, 'base64url').toString())
  return { key, id }
}
