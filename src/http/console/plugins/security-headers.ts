import fp from 'fastify-plugin'
import { contentSecurityPolicy } from '../../content-security-policy.ts'

const HEADERS = {
  'Content-Security-Policy': contentSecurityPolicy(
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ),
  'X-Content-Type-Options': 'nosniff',
  // For browsers without `frame-ancestors`.
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
}

/** Sets the headers that protect the page, on every response. A route may replace one. */
export default fp(
  async (app) => {
    app.addHook('onRequest', async (_request, reply) => {
      reply.headers(HEADERS)
    })
  },
  { name: 'security-headers' },
)
