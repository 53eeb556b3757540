import { expect } from 'vitest'
import { expectMatchesOpenApi } from '../../harness/traffic/openapi-check.ts'
import type { RawResponse } from './raw-http.ts'

/**
 * Fails unless this is a documented response to any request below `/v1`, and not a 5xx. The HTTP
 * parser rejects a request before its account is known, so such a response has no rate-limit
 * headers.
 */
export function expectOpenApiResponse(
  url: string,
  answer: RawResponse | undefined,
): {
  status: number
  code: string | undefined
  param: string | undefined
} {
  if (answer === undefined) throw new Error('no response')
  const { status, headers, body } = answer
  const json = body === '' ? null : JSON.parse(body)
  const { code, param, request_id } = json?.error ?? {}
  expect(status).toBeLessThan(500)
  if (json?.error !== undefined) expect(request_id).toBe(headers['request-id'])
  if (headers['connection'] === 'close' && status === 400 && param === undefined) {
    expect(headers['request-id']).toMatch(/^req_[0-9a-f]{32}$/)
    expect(code).toBe('invalid_request')
  } else {
    expectMatchesOpenApi({ url, status, headers, json })
  }
  return { status, code, param }
}
