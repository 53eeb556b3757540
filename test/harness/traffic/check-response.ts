import { expectMatchesOpenApi } from './openapi-check.ts'
import type { Outcome, TrafficRequest, TrafficResponse } from './request.ts'

/**
 * The kinds of violations: a timeout, a response that breaks the contract, a page with wrong
 * content. `shed` is load shedding, which is compared with the service's own metrics.
 */
export interface Violation {
  kind: 'hung' | 'off contract' | 'wrong page' | 'shed'
  what: string
}

const RATE_HEADERS = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']
const UNAVAILABLE = 503

/** Validates an outcome against description and oracle; `mayFail`: OpenSearch is or was faulty. */
export function checkResponse(
  request: TrafficRequest,
  outcome: Outcome,
  mayFail: boolean,
): Violation | undefined {
  const fault = (kind: Violation['kind'], what: string) => ({
    kind,
    what: `${request.path}: ${what}`,
  })
  if ('failure' in outcome) {
    return fault(outcome.failure === 'hung' ? 'hung' : 'off contract', outcome.reason)
  }
  const breach = findSchemaViolation(request, outcome)
  if (breach !== undefined) return fault('off contract', breach)
  if (isShed(request, outcome, mayFail)) return fault('shed', '503')
  const offStatus = findStatusViolation(request, outcome, mayFail)
  if (offStatus !== undefined) return fault('off contract', offStatus)
  const contentFault = outcome.status === 200 ? request.checkBody?.(outcome.json) : undefined
  return contentFault === undefined ? undefined : fault('wrong page', contentFault)
}

/** Whether a healthy service sends this response. */
export function isHealthy({ expectedStatuses }: TrafficRequest, outcome: Outcome): boolean {
  return 'status' in outcome && expectedStatuses.includes(outcome.status)
}

/** Whether only load shedding explains this response. */
function isShed(
  request: TrafficRequest,
  { status, headers }: TrafficResponse,
  mayFail: boolean,
): boolean {
  if (status !== UNAVAILABLE || RATE_HEADERS.some((name) => headers[name] !== undefined))
    return false
  return request.isRateLimited || !(mayFail && request.needsStore)
}

function findStatusViolation(
  request: TrafficRequest,
  response: TrafficResponse,
  mayFail: boolean,
): string | undefined {
  const { status, headers, json } = response
  const isAllowed =
    isHealthy(request, response) || (mayFail && request.needsStore && status === UNAVAILABLE)
  if (!isAllowed) return `responded ${status} ${JSON.stringify(json).slice(0, 300)}`
  const missing = request.isRateLimited && RATE_HEADERS.find((name) => headers[name] === undefined)
  return missing ? `${status} without ${missing}` : undefined
}

function findSchemaViolation(
  request: TrafficRequest,
  { status, headers, json }: TrafficResponse,
): string | undefined {
  try {
    expectMatchesOpenApi({ url: request.path, status, headers, json })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  const { error } = json as { error?: { request_id: string } }
  const isOthers = error !== undefined && error.request_id !== headers['request-id']
  return isOthers ? `${status} with the request id of another` : undefined
}
