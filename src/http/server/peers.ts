import type { ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ipRateLimitKey } from '../../rate-limit/ip-rate-limit-key.ts'
import type { Peer } from './eviction-policy.ts'

/**
 * A property of the response, because V8 keeps the new values of a long-lived WeakMap until a full
 * collection, with all that they refer to.
 */
const REQUEST = Symbol('request')

interface PeerResponse extends ServerResponse {
  [REQUEST]?: FastifyRequest
}

/** Returns the peer of a response; a request that never reached Fastify counts for its address. */
export function peerOf(response: PeerResponse): Peer {
  const request = response[REQUEST]
  const account = request?.caller?.accountId
  if (account !== undefined) return { isAuthenticated: true, id: account }
  const { remoteAddress = 'unknown' } = response.req.socket
  return { isAuthenticated: false, id: ipRateLimitKey(request?.ip ?? remoteAddress, remoteAddress) }
}

/** Maps responses to requests, so that peers are resolved lazily. */
export default fp(
  async (app) => {
    app.addHook('onRequest', (request, { raw }: { raw: PeerResponse }, next) => {
      raw[REQUEST] = request
      next()
    })
  },
  { name: 'peers' },
)
