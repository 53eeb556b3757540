import fp from 'fastify-plugin'

/**
 * Sets `Request-Id` to the id that the service generated; a `Request-Id` from the client is
 * ignored.
 */
export default fp(
  async (app) => {
    app.addHook('onRequest', async (request, reply) => {
      reply.header('Request-Id', request.id)
    })
  },
  { name: 'request-id' },
)
