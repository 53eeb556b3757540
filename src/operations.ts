import Fastify, { type FastifyInstance } from 'fastify'
import drain from './http/drain.ts'
import type { Metrics } from './metrics.ts'
import type { Stores } from './stores/stores.ts'

const PROBE = 'health-probe'

/** What an operator's machines ask, on a port of its own. */
export function buildOperations(
  { keys, orders }: Pick<Stores, 'keys' | 'orders'>,
  { registry }: Metrics,
): FastifyInstance {
  const app = Fastify({ logger: false })
  app.register(drain)
  app.get('/health/live', async () => ({ status: 'ok' }))
  app.get('/health/ready', async (_request, reply) => {
    try {
      await Promise.all([keys.byId(PROBE), orders.latestWrite(PROBE)])
      return { status: 'ok' }
    } catch {
      return reply.code(503).send({ status: 'unavailable' })
    }
  })
  app.get('/metrics', async (_request, reply) => {
    return reply.type(registry.contentType).send(await registry.metrics())
  })
  return app
}
