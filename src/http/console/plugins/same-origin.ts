import fp from 'fastify-plugin'
import { ApiError } from '../../api-error.ts'
import { READ_METHODS } from '../../routes/read-route.ts'

export interface SameOriginOptions {
  /** The origin of the page. */
  origin(): string
}

/**
 * Accepts only requests of the page itself, also where a browser ignores `SameSite`. A change must
 * name its origin. A read may omit both headers, because its response is readable by this origin
 * alone.
 */
export default fp<SameOriginOptions>(
  async (app, { origin }) => {
    app.addHook('onRequest', async ({ method, headers }) => {
      const isRead = READ_METHODS.includes(method)
      const isOrigin = headers.origin === undefined ? isRead : headers.origin === origin()
      const site = headers['sec-fetch-site']
      const isSite = site === undefined || site === 'same-origin'
      if (!isOrigin || !isSite) throw new ApiError('forbidden_role', { message: FOREIGN })
    })
  },
  { name: 'same-origin', dependencies: ['error-handler'] },
)

const FOREIGN = 'A requisição não veio da página do painel. Abra o painel e tente de novo por lá.'
