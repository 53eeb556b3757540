import { describe, expect, it } from 'vitest'
import {
  ApiError,
  type ErrorCode,
  errorCatalogue,
  renderError,
} from '../../../src/http/api-error.ts'

/** The table of `openapi/guide/08-erros.md`. */
const documented: [status: number, code: ErrorCode, type: string][] = [
  [400, 'invalid_request', 'invalid_request_error'],
  [401, 'invalid_api_key', 'authentication_error'],
  [403, 'account_blocked', 'permission_error'],
  [403, 'insufficient_access', 'permission_error'],
  [404, 'resource_missing', 'invalid_request_error'],
  [429, 'rate_limited', 'rate_limit_error'],
  [500, 'internal_error', 'api_error'],
  [503, 'service_unavailable', 'api_error'],
]
const ID = 'req_0123456789abcdef0123456789abcdef'
const body = (error: ApiError) => JSON.parse(renderError(error, ID)).error

describe('the catalogue of errors', () => {
  it.each(documented)('contains %d %s of type %s', (status, code, type) => {
    expect(errorCatalogue[code]).toMatchObject({ status, type })
  })

  it('contains no other code', () => {
    expect(Object.keys(errorCatalogue)).toEqual(documented.map(([, code]) => code))
  })

  it.each(documented)('contains for %d %s a message in Portuguese', (_, code) => {
    expect(errorCatalogue[code].message).toMatch(/(não|chave|conta|tente) .*\.$/i)
  })
})

describe('an ApiError', () => {
  it.each(documented)('carries the status %d of %s', (status, code) => {
    const error = new ApiError(code)
    expect([error.status, error.code, error.message]).toEqual([
      status,
      code,
      errorCatalogue[code].message,
    ])
  })

  it('carries its own message, param, Retry-After and cause', () => {
    const cause = new Error('boom')
    const details = { param: 'limit', message: 'Envie limit.', retryAfterSeconds: 7, cause }
    expect(new ApiError('rate_limited', details)).toMatchObject(details)
  })

  it('carries a Retry-After for service_unavailable', () => {
    expect(new ApiError('service_unavailable').retryAfterSeconds).toBe(1)
    expect(new ApiError('service_unavailable', { retryAfterSeconds: 3 }).retryAfterSeconds).toBe(3)
  })
})

describe('renderError', () => {
  it.each(documented)('renders %d %s without param when there is none', (_, code, type) => {
    const { message } = errorCatalogue[code]
    expect(body(new ApiError(code))).toEqual({ type, code, message, request_id: ID })
  })

  it('renders the invalid parameter', () => {
    const error = new ApiError('invalid_request', { param: 'cursor', message: 'Recomece.' })
    expect(body(error)).toEqual({
      type: 'invalid_request_error',
      code: 'invalid_request',
      message: 'Recomece.',
      param: 'cursor',
      request_id: ID,
    })
  })

  it('renders nothing beside the error', () => {
    expect(Object.keys(JSON.parse(renderError(new ApiError('internal_error'), ID)))).toEqual([
      'error',
    ])
  })

  it('renderError never renders the cause', () => {
    const error = new ApiError('internal_error', { cause: new Error('password=hunter2') })
    expect(renderError(error, ID)).not.toContain('hunter2')
  })
})
