import { Counter, Histogram, type Registry } from 'prom-client'
import { type ErrorCode, errorCatalogue } from '../../http/api-error.ts'
import { SHED_REASONS } from '../../http/server/load-shedding.ts'
import { CLOSE_REASONS } from '../../http/server/slow-clients.ts'
import { UNKNOWN_PARAM } from '../../http/unknown-params.ts'
import { listParamNames } from '../../orders/list-params.ts'
import { DURATION_BUCKETS } from './buckets.ts'

/** Metrics of requests and connections. */
export interface HttpMetrics {
  /** Request duration in seconds; `route` is the route pattern, or `none`. */
  requestSeconds: Histogram<'method' | 'route' | 'status'>
  /** Error responses by code; `param` is empty for errors without a parameter. */
  errors: Counter<'code' | 'param'>
  /** Requests whose client disconnected before the response was sent; in none of the above. */
  abandoned: Counter
  /** Requests rejected by the HTTP parser; in none of the above. */
  malformed: Counter
  /** Requests rejected with 503 by load shedding; in none of the above. */
  shedRequests: Counter<'reason'>
  /** Connections that the server closed to protect other clients. */
  closedConnections: Counter<'reason'>
}

const INVALID_PARAM_CODE = 'invalid_request' satisfies ErrorCode

/** Registers the HTTP metrics; every counter starts at zero. */
export function createHttpMetrics(registry: Registry): HttpMetrics {
  const registers = [registry]
  const requestSeconds = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Duration of API requests in seconds, by method, route and status.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: DURATION_BUCKETS,
    registers,
  })
  const errors = new Counter({
    name: 'http_errors_total',
    help: 'Error responses, by code and by the invalid parameter.',
    labelNames: ['code', 'param'] as const,
    registers,
  })
  const abandoned = new Counter({
    name: 'http_abandoned_requests_total',
    help: 'Requests whose client disconnected before the response was complete.',
    registers,
  })
  const malformed = new Counter({
    name: 'http_malformed_requests_total',
    help: 'Requests that the HTTP/1 parser rejected before routing.',
    registers,
  })
  const shedRequests = new Counter({
    name: 'http_shed_requests_total',
    help: 'Requests rejected with 503 by load shedding: too many in flight, or a delayed event loop.',
    labelNames: ['reason'] as const,
    registers,
  })
  const closedConnections = new Counter({
    name: 'http_cut_connections_total',
    help: 'Connections closed by the server: one of too many, an unread response, or too much memory for unread responses.',
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
