import { Type } from '@fastify/type-provider-typebox'

/**
 * The methods of requests that change nothing. The routes of `/v1` list HEAD, because Fastify's
 * automatic HEAD route sends a 304 with Content-Length: 0.
 */
export const READ_METHODS = ['GET', 'HEAD']

/** Accepts any query: each route validates it, with messages that say how to correct it. */
export const AnyQuery = Type.Record(
  Type.String(),
  Type.Union([Type.String(), Type.Array(Type.String())]),
)
