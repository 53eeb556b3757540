import Fastify, { type FastifyInstance } from 'fastify'
import type { Registry } from 'prom-client'
import connectionDraining from '../server/connection-draining.ts'
import type { Readiness } from './readiness.ts'

/** What of the metrics is shown. */
interface OperationsMetrics {
  registry: Pick<Registry, 'contentType' | 'metrics'>
}

/** What an operator's machines ask, on a port of its own. `isAlive`: not to be started again. */
export function buildOperationsApp(
  readiness: Readiness,
  { registry }: OperationsMetrics,
  isAlive: () => Promise<boolean> = async () => true,
): FastifyInstance {
  const app = Fastify({ logger: false })
  app.register(connectionDraining)
  app.get('/health/live', async (_request, reply) => {
    if (await isAlive()) return { status: 'ok' }
    return reply.code(503).send({ status: 'unavailable' })
  })
  app.get('/health/ready', async (_request, reply) => {
    const health = await readiness()
    return reply.code(health.status === 'ok' ? 200 : 503).send(health)
  })
  app.get('/metrics', async (_request, reply) => {
    return reply.type(registry.contentType).send(await registry.metrics())
  })
  return app
}
