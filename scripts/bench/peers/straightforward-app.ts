import rateLimit from '@fastify/rate-limit'
import type { Client } from '@opensearch-project/opensearch'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Redis } from 'ioredis'
import { keyDigest } from '../../../src/auth/api-key.ts'
import { Order } from '../../../src/orders/order.ts'
import { type PageQuery, type Sort, sorts } from '../../../src/orders/order-store.ts'
import type { IndexNames } from '../../../src/stores/opensearch/index-names.ts'
import { buildSearch } from '../../../src/stores/opensearch/read/search-body.ts'
import { NO_FILTERS } from '../orders/searches.ts'

export interface StraightforwardOptions {
  client: Client
  redis: Redis
  /** Before every key in Redis. */
  redisPrefix: string
  names: IndexNames
  keyPepper: Uint8Array
}

interface Query {
  limit: number
  sort: Sort
  cursor?: string
}

interface Found {
  hits: { hits: { _source: { order: Order }; sort: [key: number, id: string] }[] }
}

const querystring = {
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    sort: { type: 'string', enum: sorts, default: sorts[0] },
    cursor: { type: 'string' },
  },
}
const list = {
  type: 'object',
  required: ['object', 'data', 'has_more', 'next_cursor'],
  properties: {
    object: { type: 'string' },
    data: { type: 'array', items: Order },
    has_more: { type: 'boolean' },
    next_cursor: { type: ['string', 'null'] },
  },
}
const schema = { querystring, response: { 200: list } }
/** So roomy that nobody is ever refused. */
const LIMIT = { max: 1_000_000, timeWindow: 1_000 }

/**
 * The listing as most would write it, every part of it in its usual way: the official client, whose answer
 * is parsed; orders mapped out of the hits; an object that Fastify serializes by its schema; the published
 * rate limit on Redis; a line of the log a request. The searches are the service's own, so that nothing but
 * the process differs.
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

  app.get<{ Querystring: Query }>('/v1/orders', { schema }, async (request) => {
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
  })
  return app
}

/** The page after a place. */
export interface PageAt extends Pick<PageQuery, 'accountId' | 'sort' | 'after'> {
  limit: number
}

/** The service's own search of the page, for the official client. */
export function searchRequest(index: string, { accountId, sort, after, limit }: PageAt) {
  const slice = { accountId, sort, filters: NO_FILTERS, after, nullsWrittenAfter: null }
  return {
    index,
    routing: accountId,
    preference: sort === 'updated_at_asc' ? '_primary' : `account-${accountId}`,
    allow_partial_search_results: false,
    body: buildSearch({ ...slice, size: limit + 1 }),
  }
}

/** The values that the last order of a page is sorted by, as text. */
export function writeCursor(sort: [key: number, id: string]): string {
  return Buffer.from(JSON.stringify(sort)).toString('base64url')
}

function readCursor(cursor: string): { key: number; id: string } {
  const [key, id]: [number, string] = JSON.parse(Buffer.from(cursor, 'base64url').toString())
  return { key, id }
}
