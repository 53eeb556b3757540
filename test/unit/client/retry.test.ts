import { describe, expect, it } from 'vitest'
import {
  ApiError,
  ConnectionError,
  EdgeError,
  UnexpectedAnswerError,
  UsageError,
} from '../../../src/client/errors.ts'
import { retryInMs } from '../../../src/client/retry.ts'

const refusal = (status: number, retryAfterSeconds: number | null = null) => ({
  status,
  requestId: null,
  retryAfterSeconds,
})
const api = (status: number, seconds?: number) =>
  new ApiError(
    { type: 'api_error', code: 'internal_error', message: '', request_id: '' },
    refusal(status, seconds),
  )
const edge = (status: number, seconds?: number) => new EdgeError('', refusal(status, seconds))
const connection = (isFinal: boolean) => new ConnectionError('', { cause: null, isFinal })
const portal = new UnexpectedAnswerError('', { status: 200, requestId: null })

const known = { failedTries: 1, isKnown: true }
const retry = (error: Error, tried = known) => retryInMs(error, tried, 1)

describe('a call is repeated', () => {
  it.each<[string, Error, number]>([
    ['a 429 of the service, when it says', api(429, 7), 7_000],
    ['a 429 of the edge, when it says', edge(429, 300), 300_000],
    ['a 429 of the edge that lost its header, after its usual time', edge(429), 300_000],
    ['a 429 that says at once, a little later', api(429, 0), 500],
    ['a 503 when it says, if that is later', api(503, 2), 2_000],
    ['a 500 soon', api(500), 500],
    ['a 502 of the edge soon', edge(502), 500],
    ['a cut connection soon', connection(false), 500],
    ['a portal in the place of a known API soon', portal, 500],
  ])('after %s', (_what, error, waitMs) => {
    expect(retry(error)).toBe(waitMs)
  })

  it('less and less often, half a minute apart at most', () => {
    const waits = [1, 2, 3, 10].map((failedTries) => retry(api(503), { ...known, failedTries }))
    expect(waits).toEqual([500, 1_000, 2_000, 30_000])
  })

  it('not at the same instant as by everybody else', () => {
    expect(retryInMs(api(503), known, 0)).toBe(250)
  })
})

describe('a call is not repeated', () => {
  it.each<[string, Error]>([
    ['a 400', api(400)],
    ['a 401', api(401)],
    ['a 403', api(403)],
    ['a 404', api(404)],
    ['the firewall', edge(403)],
    ['plain HTTP', edge(400)],
    ['a certificate', connection(true)],
    ['a wrong call', new UsageError('')],
    ['anything else', new TypeError('')],
  ])('after %s', (_what, error) => {
    expect(retry(error)).toBeNull()
  })

  it.each([
    ['somebody else answers where the API never did', portal, 1],
    ['nobody answers where nobody ever did', connection(false), 3],
    ['a balancer answers 502 where the API never did', edge(502), 3],
  ])('when %s', (_what, error, failedTries) => {
    expect(retry(error, { isKnown: false, failedTries })).toBeNull()
  })
})
