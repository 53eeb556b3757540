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
  ask: TrafficRequest,
  outcome: Outcome,
  mayFail: boolean,
): Violation | undefined {
  const fault = (kind: Violation['kind'], what: string) => ({ kind, what: `${ask.path}: ${what}` })
  if ('failure' in outcome) {
    return fault(outcome.failure === 'hung' ? 'hung' : 'off contract', outcome.reason)
  }
  const breach = findSchemaViolation(ask, outcome)
  if (breach !== undefined) return fault('off contract', breach)
  if (isShed(ask, outcome, mayFail)) return fault('shed', '503')
  const offStatus = findStatusViolation(ask, outcome, mayFail)
  if (offStatus !== undefined) return fault('off contract', offStatus)
  const untruth = outcome.status === 200 ? ask.checkBody?.(outcome.json) : undefined
  return untruth === undefined ? undefined : fault('wrong page', untruth)
}

/** Whether a healthy service sends this response. */
export function isHealthy({ expectedStatuses }: TrafficRequest, outcome: Outcome): boolean {
  return 'status' in outcome && expectedStatuses.includes(outcome.status)
}

/** Whether only load shedding explains this response. */
function isShed(
  ask: TrafficRequest,
  { status, headers }: TrafficResponse,
  mayFail: boolean,
): boolean {
  if (status !== UNAVAILABLE || RATE_HEADERS.some((name) => headers[name] !== undefined))
    return false
  return ask.isRateLimited || !(mayFail && ask.needsStore)
}

function findStatusViolation(
  ask: TrafficRequest,
  answer: TrafficResponse,
  mayFail: boolean,
): string | undefined {
  const { status, headers, json } = answer
  const isAllowed = isHealthy(ask, answer) || (mayFail && ask.needsStore && status === UNAVAILABLE)
  if (!isAllowed) return `answered ${status} ${JSON.stringify(json).slice(0, 300)}`
  const missing = ask.isRateLimited && RATE_HEADERS.find((name) => headers[name] === undefined)
  return missing ? `${status} without ${missing}` : undefined
}

function findSchemaViolation(
  ask: TrafficRequest,
  { status, headers, json }: TrafficResponse,
): string | undefined {
  try {
    expectMatchesOpenApi({ url: ask.path, status, headers, json })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  const { error } = json as { error?: { request_id: string } }
  const isOthers = error !== undefined && error.request_id !== headers['request-id']
  return isOthers ? `${status} with the request id of another` : undefined
}
