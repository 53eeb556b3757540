import Fastify, { type FastifyInstance } from 'fastify'
import type { Registry } from 'prom-client'
import closeConnections from '../server/close-connections.ts'
import type { Readiness } from './readiness.ts'

/** The part of the metrics that `GET /metrics` renders. */
interface OperationsMetrics {
  registry: Pick<Registry, 'contentType' | 'metrics'>
}

/** The operations port: liveness, readiness and metrics. `isAlive`: no restart is needed. */
export function buildOperationsApp(
  readiness: Readiness,
  { registry }: OperationsMetrics,
  isAlive: () => Promise<boolean> = async () => true,
): FastifyInstance {
  const app = Fastify({ logger: false })
  app.register(closeConnections)
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
