import Fastify from 'fastify'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ApiError } from '../../../../src/http/api-error.ts'
import abandonedRequests from '../../../../src/http/plugins/abandoned-requests.ts'
import errorHandler from '../../../../src/http/plugins/error-handler.ts'
import requestLog from '../../../../src/http/plugins/request-log.ts'
import { InvalidParamError } from '../../../../src/lib/errors/invalid-param-error.ts'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'

let logged: { level: number; reason?: string; err?: { type: string; message: string } }[]
let app: Awaited<ReturnType<typeof start>>

/** Starts an app whose route throws the given error. */
async function start() {
  const write = (line: string) => logged.push(JSON.parse(line))
  const fastify = Fastify({
    loggerInstance: pino({ level: 'warn' }, { write }),
    genReqId: () => 'req_1',
  })
  let thrown: Error
  fastify.register(abandonedRequests)
  fastify.register(requestLog)
  fastify.register(errorHandler)
  fastify.get('/', async () => {
    throw thrown
  })
  await fastify.ready()
  return {
    close: () => fastify.close(),
    async responseTo(error: Error) {
      thrown = error
      const { statusCode, headers, body } = await fastify.inject('/')
      return { status: statusCode, headers, body, error: JSON.parse(body).error }
    },
  }
}

beforeEach(async () => {
  logged = []
  app = await start()
})
afterEach(() => app.close())

const SECRET = 'rita@exemplo.com.br'

/** Errors without a response of their own. */
const faults: [name: string, error: Error, code: string, status: number][] = [
  ['a store that does not respond', new Unavailable(SECRET), 'service_unavailable', 503],
  ['any other error', new TypeError(SECRET), 'internal_error', 500],
  [
    'an error with its own status',
    Object.assign(new Error(SECRET), { statusCode: 503, code: 'service_unavailable' }),
    'internal_error',
    500,
  ],
  [
    'an error that an unavailable store caused',
    new Error(SECRET, { cause: new Unavailable(SECRET) }),
    'internal_error',
    500,
  ],
]

describe.each(faults)('%s', (_name, thrown, code, status) => {
  it(`the error becomes ${status} ${code}`, async () => {
    const answer = await app.responseTo(thrown)
    expect(answer.status).toBe(status)
    expect(answer.error).toMatchObject({ type: 'api_error', code, request_id: 'req_1' })
  })

  it('the error is not disclosed in the response', async () => {
    expect((await app.responseTo(thrown)).body).not.toContain(SECRET)
  })

  it('an unavailable store is logged by reason alone, any other error in full', async () => {
    await app.responseTo(thrown)
    const asThrown = { level: 50, err: { type: thrown.constructor.name } }
    expect(logged).toMatchObject([status === 503 ? { level: 40, reason: SECRET } : asThrown])
    if (status !== 503) expect(logged[0]?.err?.message).toContain(SECRET)
  })
})

describe('Retry-After', () => {
  it('Retry-After is sent with a 503', async () => {
    const { headers } = await app.responseTo(new Unavailable('no response'))
    expect(headers['retry-after']).toBe('1')
  })

  it('equals the wait of the error', async () => {
    const { headers } = await app.responseTo(new ApiError('rate_limited', { retryAfterSeconds: 7 }))
    expect(headers['retry-after']).toBe('7')
  })

  it('Retry-After is not sent with a 500', async () => {
    expect((await app.responseTo(new Error('x'))).headers).not.toHaveProperty('retry-after')
  })
})

describe('an error of the catalogue', () => {
  it('an error of the catalogue is rendered unchanged', async () => {
    const answer = await app.responseTo(new ApiError('invalid_request', { param: 'limit' }))
    expect(answer).toMatchObject({ status: 400, error: { param: 'limit' } })
  })

  it('an error of the catalogue is 400 invalid_request for an InvalidParamError, with its name and message', async () => {
    const answer = await app.responseTo(new InvalidParamError('limit', 'Envie limit.'))
    expect(answer).toMatchObject({
      status: 400,
      error: { code: 'invalid_request', param: 'limit', message: 'Envie limit.' },
    })
    expect(logged).toEqual([])
  })

  it('an error of the catalogue is logged with its cause when its status is 500 or above', async () => {
    await app.responseTo(new ApiError('service_unavailable', { cause: new RangeError('why') }))
    expect(logged).toMatchObject([{ err: { type: 'RangeError', message: 'why' } }])
  })

  it('an error of the catalogue is not logged when its status is below 500', async () => {
    await app.responseTo(new ApiError('resource_missing'))
    expect(logged).toEqual([])
  })
})
