import fp from 'fastify-plugin'

/** Every answer carries the id that the service gave the request; one sent by the client is ignored. */
export default fp(
  async (app) => {
    app.addHook('onRequest', async (request, reply) => {
      reply.header('Request-Id', request.id)
    })
  },
  { name: 'request-id' },
)
