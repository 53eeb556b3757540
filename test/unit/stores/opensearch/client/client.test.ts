import { inspect } from 'node:util'
import { errors } from '@opensearch-project/opensearch'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Unavailable } from '../../../../../src/lib/errors/unavailable.ts'
import {
  type CallOptions,
  read,
  write,
} from '../../../../../src/stores/opensearch/client/client.ts'
import { RequestRejectedError } from '../../../../../src/stores/opensearch/client/errors.ts'

const DEADLINE_MS = 2_000
const SECRET = 'rita@exemplo.com.br'
/** The client attaches the whole request and response to its errors. */
const meta = (statusCode: number, body: unknown) =>
  ({
    statusCode,
    body,
    headers: { secret: SECRET },
    meta: { request: { params: { body: SECRET } } },
  }) as never

const failure = (type: string) => ({ error: { type, reason: `why ${type}`, secret: SECRET } })
const response = (statusCode: number, body: unknown) =>
  new errors.ResponseError(meta(statusCode, body))
const connectionError = () => new errors.ConnectionError('read ECONNRESET', meta(0, null))

let nowMs: number
let calls: CallOptions[]
beforeEach(() => {
  nowMs = 5_000
  calls = []
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
})
afterEach(() => {
  vi.restoreAllMocks()
})

/** A call with these outcomes in sequence, each after some milliseconds. */
const ending =
  (...outcomes: [tookMs: number, outcome: unknown][]) =>
  async (options: CallOptions) => {
    calls.push(options)
    const [tookMs, outcome] = outcomes[calls.length - 1] ?? [0, new Error('called too often')]
    nowMs += tookMs
    if (outcome instanceof Error) throw outcome
    return { body: outcome }
  }
const thrownBy = (work: Promise<unknown>) => work.catch((error: unknown) => error)

describe.each([
  ['a read', read],
  ['a write', write],
])('%s', (_name, send) => {
  it('the request has its whole deadline and returns the body of the response', async () => {
    expect(await send(DEADLINE_MS, ending([10, { found: true }]))).toEqual({ found: true })
    expect(calls).toEqual([{ requestTimeout: DEADLINE_MS }])
  })

  it.each([
    [429, failure('circuit_breaking_exception')],
    [500, failure('internal')],
    [502, '<html>Bad gateway</html>'],
    [503, failure('cluster_block_exception')],
    [504, ''],
    [404, failure('index_not_found_exception')],
  ])('the request that gets %d is unavailable and not retried', async (status, body) => {
    const error = await thrownBy(send(DEADLINE_MS, ending([1, response(status, body)])))
    expect(error).toBeInstanceOf(Unavailable)
    expect(calls).toHaveLength(1)
  })

  it.each([
    [400, failure('mapper_parsing_exception'), 'mapper_parsing_exception'],
    [401, 'Unauthorized', 'no type'],
    [403, failure('security_exception'), 'security_exception'],
    [404, failure('resource_not_found_exception'), 'resource_not_found_exception'],
    [404, { error: 'no handler found', status: 404 }, 'no type'],
    [409, failure('version_conflict_engine_exception'), 'version_conflict_engine_exception'],
    [413, '', 'no type'],
  ])('the request that gets %d is rejected without a retry', async (status, body, type) => {
    const error = await thrownBy(send(DEADLINE_MS, ending([1, response(status, body)])))
    expect(error).toBeInstanceOf(RequestRejectedError)
    expect(error).toMatchObject({ status, type, name: 'RequestRejectedError' })
    expect(calls).toHaveLength(1)
  })

  it('the client reports why OpenSearch rejected the request', async () => {
    const rejection = response(400, failure('mapper_parsing_exception'))
    const error = await thrownBy(send(DEADLINE_MS, ending([1, rejection])))
    expect(String(error)).toContain('400 mapper_parsing_exception: why mapper_parsing_exception')
  })

  it.each([
    ['that timed out', new errors.TimeoutError('no whole response', meta(0, null))],
    ['that was aborted', new errors.RequestAbortedError('aborted', meta(0, null))],
    ['without an available node', new errors.NoLivingConnectionsError('none', meta(0, null))],
    ['whose response is not JSON', new errors.DeserializationError('bad JSON', SECRET)],
  ])('the request %s is unavailable and not retried', async (_what, thrown) => {
    const error = await thrownBy(send(DEADLINE_MS, ending([1, thrown])))
    expect(error).toBeInstanceOf(Unavailable)
    expect(calls).toHaveLength(1)
  })

  it.each([
    ['a text', '<html>It works!</html>'],
    ['nothing', ''],
    ['null', null],
  ])('the request that gets %s instead of JSON is unavailable', async (_what, body) => {
    expect(await thrownBy(send(DEADLINE_MS, ending([1, body])))).toBeInstanceOf(Unavailable)
  })

  it('the client returns a boolean body', async () => {
    expect(await send(DEADLINE_MS, ending([1, false]))).toBe(false)
  })

  it('the client rethrows its own errors unchanged', async () => {
    const fault = new TypeError('a fault of ours')
    expect(await thrownBy(send(DEADLINE_MS, ending([1, fault])))).toBe(fault)
    expect(calls).toHaveLength(1)
  })

  it.each([
    ['rejected', response(400, failure('x'))],
    ['unavailable', response(503, failure('x'))],
    ['not connected', connectionError()],
    ['not JSON', new errors.DeserializationError(`Unexpected token, "${SECRET}"`, SECRET)],
  ])(
    'the error of a request that was %s reveals neither request nor response',
    async (_what, thrown) => {
      const error = await thrownBy(send(DEADLINE_MS, ending([1, thrown], [1, thrown])))
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(SECRET)
    },
  )
})

describe('a connection error', () => {
  it('a connection error lets a read retry once within its remaining deadline', async () => {
    expect(await read(DEADLINE_MS, ending([500.5, connectionError()], [1, { n: 1 }]))).toEqual({
      n: 1,
    })
    expect(calls).toEqual([{ requestTimeout: DEADLINE_MS }, { requestTimeout: 1_499 }])
  })

  it('a connection error lets a read retry after all broken connections are known', async () => {
    let isKnown = false
    const breaking = async () => {
      setImmediate(() => {
        isKnown = true
      })
      throw connectionError()
    }
    const attempts = [breaking, async () => ({ body: { isKnown } })]
    const call = () => (attempts.shift() ?? breaking)()
    expect(await read(DEADLINE_MS, call)).toEqual({ isKnown: true })
  })

  it('a connection error lets a read retry only once', async () => {
    const call = ending([1, connectionError()], [1, connectionError()])
    expect(await thrownBy(read(DEADLINE_MS, call))).toBeInstanceOf(Unavailable)
    expect(calls).toHaveLength(2)
  })

  it.each([DEADLINE_MS - 0.5, DEADLINE_MS, DEADLINE_MS + 500])(
    'a connection error lets no read retry after %d of 2000 ms',
    async (tookMs) => {
      const call = ending([tookMs, connectionError()])
      expect(await thrownBy(read(DEADLINE_MS, call))).toBeInstanceOf(Unavailable)
      expect(calls).toHaveLength(1)
    },
  )

  it('a connection error lets no write retry', async () => {
    const call = ending([1, connectionError()])
    expect(await thrownBy(write(DEADLINE_MS, call))).toBeInstanceOf(Unavailable)
    expect(calls).toHaveLength(1)
  })

  it('a rejection after a connection error is still a rejection', async () => {
    const call = ending([1, connectionError()], [1, response(400, failure('x'))])
    expect(await thrownBy(read(DEADLINE_MS, call))).toBeInstanceOf(RequestRejectedError)
  })
})
