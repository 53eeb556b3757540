import fp from 'fastify-plugin'
import type { UsageRecorder } from '../../management/usage/usage-recorder.ts'

export interface UsageOptions {
  usage: Pick<UsageRecorder, 'record'>
}

/** Counts every authenticated response by key and status, including those with 304 and 429. */
export default fp<UsageOptions>(
  async (app, { usage }) => {
    app.addHook('onResponse', (request, reply, done) => {
      const { caller } = request
      if (caller !== null) usage.record(caller.key.keyId, caller.accountId, reply.statusCode)
      done()
    })
  },
  { name: 'usage', dependencies: ['authenticate'] },
)
