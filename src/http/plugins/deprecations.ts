import fp from 'fastify-plugin'
import type { Deprecation } from '../../openapi/changelog.ts'
import {
  DEPRECATION_LINK,
  deprecationDate,
  deprecationFor,
  sunsetDate,
} from '../../openapi/deprecations.ts'
import { operationIds, operationRoutes } from '../../openapi/operations.ts'

export interface DeprecationsOptions {
  deprecations: readonly Deprecation[]
}

/** Adds `Deprecation` (RFC 9745) and `Sunset` (RFC 8594) to responses of a deprecated operation. */
export default fp<DeprecationsOptions>(
  async (app, { deprecations }) => {
    const headers = new Map<string, Record<string, string>>()
    for (const id of operationIds) {
      const deprecation = deprecationFor(id, deprecations)
      if (deprecation === undefined) continue
      headers.set(operationRoutes[id], {
        Deprecation: deprecationDate(deprecation.since),
        Sunset: sunsetDate(deprecation.sunset),
        Link: DEPRECATION_LINK,
      })
    }
    app.addHook('onRequest', async ({ routeOptions }, reply) => {
      const own = headers.get(routeOptions.url ?? '')
      if (own !== undefined) reply.headers(own)
    })
  },
  { name: 'deprecations' },
)
