import { describe, expect, it } from 'vitest'
import {
  ApiError,
  ConnectionError,
  EdgeError,
  UnexpectedResponseError,
  UsageError,
} from '../../../../src/client/errors.ts'
import { retryDelayMs } from '../../../../src/client/http/retry.ts'

const meta = (status: number, retryAfterSeconds: number | null = null) => ({
  status,
  requestId: null,
  retryAfterSeconds,
})
const api = (status: number, seconds?: number) =>
  new ApiError(
    { type: 'api_error', code: 'internal_error', message: '', request_id: '' },
    meta(status, seconds),
  )
const edge = (status: number, seconds?: number) => new EdgeError('', meta(status, seconds))
const connection = (isFinal: boolean) => new ConnectionError('', { cause: null, isFinal })
const portal = new UnexpectedResponseError('', { status: 200, requestId: null })

const gateway = (status: number, seconds: number | null = null) =>
  new UnexpectedResponseError('', { ...meta(status, seconds), requestId: 'gw-1' })

const known = { failedTries: 1, isKnown: true, elapsedMs: 0 }
const retry = (error: Error, tried = known) => retryDelayMs(error, tried, 1)

describe('a call is retried', () => {
  it.each<[string, Error, number]>([
    ['a 429 of the service, after its Retry-After', api(429, 7), 7_000],
    ['a 429 of the edge, after its Retry-After', edge(429, 300), 300_000],
    ['a 429 of the edge without the header, after its usual time', edge(429), 300_000],
    ['a 429 with Retry-After 0, after the backoff', api(429, 0), 500],
    ['a 503, after its Retry-After if that exceeds the backoff', api(503, 2), 2_000],
    ['a 500, after the backoff', api(500), 500],
    ['a 429 of a gateway with a request id, after its Retry-After', gateway(429, 20), 20_000],
    ['a 503 of a gateway with a request id, after its Retry-After', gateway(503, 20), 20_000],
    ['a 429 of a gateway without the header, after the backoff', gateway(429), 500],
    ['a 502 of the edge, after the backoff', edge(502), 500],
    ['a cut connection, after the backoff', connection(false), 500],
    ['a captive portal at a known address, after the backoff', portal, 500],
  ])('a call is retried after %s', (_what, error, waitMs) => {
    expect(retry(error)).toBe(waitMs)
  })

  it('a call is retried with exponential backoff of 30 seconds at most', () => {
    const waits = [1, 2, 3, 10].map((failedTries) => retry(api(503), { ...known, failedTries }))
    expect(waits).toEqual([500, 1_000, 2_000, 30_000])
  })

  it('a call is retried with jitter', () => {
    expect(retryDelayMs(api(503), known, 0)).toBe(250)
  })

  it('a call is retried after whole milliseconds, which programs print', () => {
    expect(retryDelayMs(api(503), known, 0.123456)).toBe(281)
  })
})

describe('a call is not retried', () => {
  it.each<[string, Error]>([
    ['a 400', api(400)],
    ['a 401', api(401)],
    ['a 403', api(403)],
    ['a 404', api(404)],
    ['the firewall', edge(403)],
    ['plain HTTP', edge(400)],
    ['an untrusted certificate', connection(true)],
    ['a usage error', new UsageError('')],
    ['any other error', new TypeError('')],
  ])('a call is not retried after %s', (_what, error) => {
    expect(retry(error)).toBeNull()
  })

  it.each([
    ['an unexpected response arrives from an unknown address', portal, 1],
    ['an unknown address does not respond', connection(false), 3],
    ['a load balancer returns 500 at an unknown address', edge(500), 3],
  ])('a call is not retried when %s', (_what, error, failedTries) => {
    expect(retry(error, { isKnown: false, failedTries, elapsedMs: 2_000 })).toBeNull()
  })
})

describe('a load balancer without a service, at an address that never responded,', () => {
  const unknown = { isKnown: false, failedTries: 7, elapsedMs: 59_999 }

  it.each([502, 503, 504])('is retried after a %i for a minute', (status) => {
    expect(retry(edge(status), unknown)).toBe(30_000)
    expect(retry(edge(status), { ...unknown, elapsedMs: 60_000 })).toBeNull()
    expect(retry(gateway(status), unknown)).toBe(30_000)
  })

  it('is retried after its Retry-After', () => {
    expect(retry(edge(503, 45), { ...unknown, failedTries: 1 })).toBe(45_000)
  })
})
