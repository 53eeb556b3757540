import fp from 'fastify-plugin'
import type { LoadShedder } from '../server/load-shedding.ts'

/** Releases the slot of a request once its response is rendered. */
export default fp<{ loadShedder: LoadShedder }>(
  async (app, { loadShedder }) => {
    app.addHook('onSend', (_request, reply, payload, done) => {
      loadShedder.release(reply.raw)
      done(null, payload)
    })
  },
  { name: 'release-slot' },
)
