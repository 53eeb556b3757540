import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { UsageRecorder } from '../../management/usage/usage-recorder.ts'

export interface UsageOptions {
  usage: Pick<UsageRecorder, 'record'>
}

/**
 * Counts every authenticated response by key and status, including those with 304 and 429, and
 * those that the client did not read to the end.
 */
export default fp<UsageOptions>(
  async (app, { usage }) => {
    function count({ caller }: FastifyRequest, status: number): void {
      if (caller) usage.record(caller.key.keyId, caller.accountId, status)
    }

    app.onAbandoned((request, { raw }) => {
      if (raw.headersSent) count(request, raw.statusCode)
    })
    app.addHook('onResponse', (request, reply, done) => {
      count(request, reply.statusCode)
      done()
    })
  },
  { name: 'usage', dependencies: ['authenticate', 'abandoned-requests'] },
)
