import Fastify, { type FastifyInstance } from 'fastify'
import drain from './http/drain.ts'
import type { Metrics } from './metrics.ts'
import type { Readiness } from './readiness.ts'

/** What an operator's machines ask, on a port of its own. */
export function buildOperations(
  isReady: Readiness,
  { registry }: Pick<Metrics, 'registry'>,
): FastifyInstance {
  const app = Fastify({ logger: false })
  app.register(drain)
  app.get('/health/live', async () => ({ status: 'ok' }))
  app.get('/health/ready', async (_request, reply) => {
    if (await isReady()) return { status: 'ok' }
    return reply.code(503).send({ status: 'unavailable' })
  })
  app.get('/metrics', async (_request, reply) => {
    return reply.type(registry.contentType).send(await registry.metrics())
  })
  return app
}
