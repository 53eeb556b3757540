import type { ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ipRateLimitKey } from '../../rate-limit/failed-authentications.ts'
import type { Peer } from './eviction-policy.ts'

const requests = new WeakMap<ServerResponse, FastifyRequest>()

/** Returns the peer of a response; a request that never reached Fastify counts for its address. */
export function peerOf(response: ServerResponse): Peer {
  const request = requests.get(response)
  const account = request?.caller?.accountId
  if (account !== undefined) return { isAuthenticated: true, id: account }
  const { remoteAddress = 'unknown' } = response.req.socket
  return { isAuthenticated: false, id: ipRateLimitKey(request?.ip ?? remoteAddress, remoteAddress) }
}

/** Maps responses to requests, so that peers are resolved lazily. */
export default fp(
  async (app) => {
    app.addHook('onRequest', (request, { raw }, next) => {
      requests.set(raw, request)
      next()
    })
  },
  { name: 'peers' },
)
