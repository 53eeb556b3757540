import { expect } from 'vitest'
import { expectMatchesOpenApi } from '../../harness/traffic/openapi-check.ts'
import type { RawAnswer } from './raw-http.ts'

/**
 * Fails unless this is an answer of the contract to whatever came below `/v1`, and none of 5xx. What HTTP
 * itself refuses comes before any account is known, and so without its limits.
 */
export function expectOpenApiResponse(
  url: string,
  answer: RawAnswer | undefined,
): {
  status: number
  code: string | undefined
  param: string | undefined
} {
  if (answer === undefined) throw new Error('no answer')
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
