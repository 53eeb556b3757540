import Fastify, { type FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { expect, it, onTestFinished } from 'vitest'
import idempotency from '../../../../../src/http/management/plugins/idempotency.ts'
import type { HeldClaim } from '../../../../../src/management/idempotency/idempotency.ts'

/** Posts with a key to a route with this response. `ends`: the calls that ended its claim. */
async function post(status: number, body: string) {
  const app = Fastify()
  onTestFinished(() => app.close())
  const ends: string[] = []
  const claim: HeldClaim = {
    requestId: 'request',
    complete: async (response) => void ends.push(`complete: ${JSON.stringify(response)}`),
    forget: async () => void ends.push('forget'),
  }
  const authenticate: FastifyPluginAsync = async (own) => {
    own.decorateRequest('principal', null)
    own.addHook('onRequest', async (request) => {
      request.principal = {
        actor: 'token:ops',
        tokenName: 'ops',
        idempotencyScope: 'token:ops',
        accountId: null,
        capabilities: null,
        mayChange: true,
      }
    })
  }
  app.register(fp(authenticate))
  app.register(idempotency, {
    idempotency: { begin: async () => ({ kind: 'started', claim }) },
  })
  app.post('/', async (_request, reply) => reply.code(status).send(body))
  const headers = { 'idempotency-key': 'key' }
  const { statusCode, body: sent } = await app.inject({ method: 'POST', url: '/', headers })
  return { status: statusCode, sent, ends }
}

it('a success completes the claim without secrets', async () => {
  const response = { status: 201, body: '{"id":"key_1"}' }
  const { ends } = await post(201, '{"id":"key_1","key":"key_live_1"}')
  expect(ends).toEqual([`complete: ${JSON.stringify(response)}`])
})

it('an error ends the claim and is sent as it is, also when it is not JSON', async () => {
  const sent = 'bad gateway'
  expect(await post(502, sent)).toEqual({ status: 502, sent, ends: ['forget'] })
})

it('a success that is not JSON is an error, which ends the claim', async () => {
  expect(await post(200, 'ok')).toMatchObject({ status: 500, ends: ['forget'] })
})
