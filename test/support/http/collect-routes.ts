import type { FastifyInstance } from 'fastify'

/**
 * The routes that an app registers as it starts, such as `GET /v1/accounts/:account/keys`, without
 * HEAD. Call it before `ready`.
 */
export function collectRoutes(app: FastifyInstance): readonly string[] {
  const routes: string[] = []
  app.addHook('onRoute', ({ method, url }) => {
    const methods = [method].flat().filter((name) => name !== 'HEAD')
    routes.push(...methods.map((name) => `${name} ${url}`))
  })
  return routes
}
