import fp from 'fastify-plugin'
import { ApiError } from '../../api-error.ts'
import { READ_METHODS } from '../../routes/read-route.ts'

const UNENCODED = ['', 'identity']

/**
 * Parses JSON bodies. Clients send `Content-Type: application/json` also without a body, which has
 * no field then. No route accepts text, or a compressed body, also of another type.
 */
export default fp(
  async (app) => {
    const parse = app.getDefaultJsonParser('error', 'error')
    app.removeContentTypeParser('text/plain')
    // After every `onRequest`: only a valid token learns more than 401.
    app.addHook('preParsing', async ({ method, headers }) => {
      const encoding = headers['content-encoding'] ?? ''
      if (READ_METHODS.includes(method) || UNENCODED.includes(encoding.toLowerCase())) return
      throw new ApiError('invalid_request', {
        status: 415,
        message: 'Envie o corpo sem compressão, sem o cabeçalho "Content-Encoding".',
      })
    })
    app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
      if (body === '') done(null, undefined)
      else parse(request, String(body), done)
    })
  },
  { name: 'json-bodies' },
)
