import Fastify, { type FastifyInstance } from 'fastify'
import drain from './http/drain.ts'
import type { Metrics } from './metrics/serving.ts'
import type { Readiness } from './readiness.ts'

/** What an operator's machines ask, on a port of its own. */
export function buildOperations(
  readiness: Readiness,
  { registry }: Pick<Metrics, 'registry'>,
): FastifyInstance {
  const app = Fastify({ logger: false })
  app.register(drain)
  app.get('/health/live', async () => ({ status: 'ok' }))
  app.get('/health/ready', async (_request, reply) => {
    const health = await readiness()
    return reply.code(health.status === 'ok' ? 200 : 503).send(health)
  })
  app.get('/metrics', async (_request, reply) => {
    return reply.type(registry.contentType).send(await registry.metrics())
  })
  return app
}
