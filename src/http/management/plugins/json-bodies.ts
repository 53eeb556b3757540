import fp from 'fastify-plugin'

/**
 * Parses JSON bodies. Clients send `Content-Type: application/json` also without a body, which has
 * no field then. No route accepts text.
 */
export default fp(
  async (app) => {
    const parse = app.getDefaultJsonParser('error', 'error')
    app.removeContentTypeParser('text/plain')
    app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
      if (body === '') done(null, undefined)
      else parse(request, String(body), done)
    })
  },
  { name: 'json-bodies' },
)
