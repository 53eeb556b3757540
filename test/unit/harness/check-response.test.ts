import { expect, it } from 'vitest'
import { ApiError, type ErrorCode, renderError } from '../../../src/http/api-error.ts'
import { checkResponse } from '../../harness/traffic/check-response.ts'
import type { Outcome, TrafficRequest } from '../../harness/traffic/request.ts'

const REQUEST_ID = `req_${'0'.repeat(32)}`
const request: TrafficRequest = {
  path: '/v1/orders',
  headers: {},
  expectedStatuses: [200, 429],
  needsStore: true,
  isRateLimited: true,
  checkBody: (body) => ((body as { data: unknown[] }).data.length === 0 ? undefined : 'not empty'),
}
const limits = { 'ratelimit-limit': '20', 'ratelimit-remaining': '19', 'ratelimit-reset': '1' }

function answer(status: number, json: unknown, headers: object = limits): Outcome {
  const type = 'application/json; charset=utf-8'
  const caching =
    status === 200
      ? { etag: '"mZ4tQ0vT1x7cWfK2aB9dLg"', 'cache-control': 'private, no-cache' }
      : { 'cache-control': 'no-store' }
  return {
    status,
    headers: { 'content-type': type, 'request-id': REQUEST_ID, ...caching, ...headers },
    json,
    ms: 1,
  }
}
const errorBody = (code: ErrorCode, id = REQUEST_ID) =>
  JSON.parse(renderError(new ApiError(code), id))
const page = { object: 'list', data: [], has_more: false, next_cursor: null }
const unavailable = errorBody('service_unavailable')
const soon = { 'retry-after': '1' }

it.each([
  ['a page', answer(200, page), false],
  ['a 429', answer(429, errorBody('rate_limited'), { ...limits, ...soon }), false],
  ['a 503 while OpenSearch is faulty', answer(503, unavailable, { ...limits, ...soon }), true],
])('checkResponse accepts %s', (_what, outcome, mayFail) => {
  expect(checkResponse(request, outcome, mayFail)).toBeUndefined()
})

it.each([
  ['a missing response', { failure: 'hung', reason: 'late', ms: 9 } as const, true, 'hung'],
  [
    'a broken connection',
    { failure: 'broken', reason: 'reset', ms: 9 } as const,
    true,
    'off contract',
  ],
  [
    'a 503 without a fault',
    answer(503, unavailable, { ...limits, ...soon }),
    false,
    'off contract',
  ],
  ['a 503 without Retry-After', answer(503, unavailable), true, 'off contract'],
  ['a shed request', answer(503, unavailable, soon), true, 'shed'],
  ['500', answer(500, errorBody('internal_error')), true, 'off contract'],
  ['a 404 for an existing order', answer(404, errorBody('resource_missing')), true, 'off contract'],
  ['an undocumented field', answer(200, { ...page, total: 0 }), false, 'off contract'],
  ['no limits', answer(200, page, {}), false, 'off contract'],
  [
    'the request id of another request',
    answer(429, errorBody('rate_limited', `req_${'1'.repeat(32)}`), { ...limits, ...soon }),
    false,
    'off contract',
  ],
])('checkResponse reports %s', (_what, outcome, mayFail, kind) => {
  expect(checkResponse(request, outcome, mayFail)).toMatchObject({ kind })
})

it('checkResponse reports a 429 for an account within its limit', () => {
  const withinLimit: TrafficRequest = { ...request, expectedStatuses: [200] }
  const rateLimited = answer(429, errorBody('rate_limited'), { ...limits, ...soon })
  expect(checkResponse(withinLimit, rateLimited, true)).toMatchObject({ kind: 'off contract' })
})

it('checkResponse reports a page with wrong orders', () => {
  const withWrongPage: TrafficRequest = { ...request, checkBody: () => 'an order is missing' }
  expect(checkResponse(withWrongPage, answer(200, page), true)).toEqual({
    kind: 'wrong page',
    what: '/v1/orders: an order is missing',
  })
})
