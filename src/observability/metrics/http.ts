import { Counter, Histogram, type Registry } from 'prom-client'
import { type ErrorCode, errorCatalogue } from '../../http/api-error.ts'
import { SHED_REASONS } from '../../http/server/load-shedding.ts'
import { CLOSE_REASONS } from '../../http/server/slow-clients.ts'
import { UNKNOWN_PARAM } from '../../http/unknown-params.ts'
import { listParamNames } from '../../orders/list-params.ts'
import { DURATION_BUCKETS } from './buckets.ts'

/** What is counted of requests and connections. */
export interface HttpMetrics {
  /** Seconds a request took; `route` is its pattern, `none` where there is none. */
  requestSeconds: Histogram<'method' | 'route' | 'status'>
  /** Error bodies, by code; `param` is empty where no parameter is at fault, `unknown` where none has that name. */
  errors: Counter<'code' | 'param'>
  /** Requests whose caller went away before the answer was out: they are in none of the above. */
  abandoned: Counter
  /** Requests that HTTP itself refuses: these are in none of the above. */
  malformed: Counter
  /** Requests answered 503 before they became requests of the API: they are in none of the above. */
  shedRequests: Counter<'reason'>
  /** Connections that were cut, because whoever had them held up others. */
  closedConnections: Counter<'reason'>
}

const INVALID_PARAM_CODE = 'invalid_request' satisfies ErrorCode

export function createHttpMetrics(registry: Registry): HttpMetrics {
  const registers = [registry]
  const requestSeconds = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Seconds a request of the API took, by method, route and status.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: DURATION_BUCKETS,
    registers,
  })
  const errors = new Counter({
    name: 'http_errors_total',
    help: 'Requests answered with an error body, by its code and by the parameter at fault.',
    labelNames: ['code', 'param'] as const,
    registers,
  })
  const abandoned = new Counter({
    name: 'http_abandoned_requests_total',
    help: 'Requests whose connection was gone before the whole answer was handed over.',
    registers,
  })
  const malformed = new Counter({
    name: 'http_malformed_requests_total',
    help: 'Requests that are no HTTP/1 and were refused before they became requests of the API.',
    registers,
  })
  const shedRequests = new Counter({
    name: 'http_shed_requests_total',
    help: 'Requests answered 503 at once, because too many were under way or the event loop was held up.',
    labelNames: ['reason'] as const,
    registers,
  })
  const closedConnections = new Counter({
    name: 'http_cut_connections_total',
    help: 'Connections cut: one of too many, idle or unread, or an answer that is not read, or unread answers that need too much memory.',
    labelNames: ['reason'] as const,
    registers,
  })
  for (const code of Object.keys(errorCatalogue)) errors.inc({ code, param: '' }, 0)
  for (const param of [...listParamNames, UNKNOWN_PARAM])
    errors.inc({ code: INVALID_PARAM_CODE, param }, 0)
  for (const reason of SHED_REASONS) shedRequests.inc({ reason }, 0)
  for (const reason of CLOSE_REASONS) closedConnections.inc({ reason }, 0)
  return { requestSeconds, errors, abandoned, malformed, shedRequests, closedConnections }
}
