import type { ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ipRateLimitKey } from '../../rate-limit/ip-rate-limit-key.ts'

/** The caller that an answer is for. */
export interface Peer {
  /** Whether the service accepted a key of the caller. */
  isAuthenticated: boolean
  /** The account, whose connections belong to one caller; without a key, the address as the limits count it. */
  id: string
}

const requests = new WeakMap<ServerResponse, FastifyRequest>()

/** The peer of an answer; requests that the framework never received count for their connection's address. */
export function peerOf(response: ServerResponse): Peer {
  const request = requests.get(response)
  const account = request?.caller?.accountId
  if (account !== undefined) return { isAuthenticated: true, id: account }
  const { remoteAddress = 'unknown' } = response.req.socket
  return { isAuthenticated: false, id: ipRateLimitKey(request?.ip ?? remoteAddress, remoteAddress) }
}

/** Keeps the request of every answer, so that its peer is resolved only when something asks for it. */
export default fp(
  async (app) => {
    app.addHook('onRequest', (request, { raw }, next) => {
      requests.set(raw, request)
      next()
    })
  },
  { name: 'peers' },
)
