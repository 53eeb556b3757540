import { HOUR_MS } from '../../lib/durations.ts'
import type { Endpoint } from './endpoint.ts'

/** The part of an endpoint that the dispatcher writes. */
export type EndpointHealth = Pick<
  Endpoint,
  'failingSince' | 'lastSuccessAt' | 'isBreakerOpen' | 'noticesSent'
>

/** What an endpoint without failures has. */
export const HEALTHY = {
  failingSince: null,
  isBreakerOpen: false,
  noticesSent: 0,
} as const satisfies Partial<EndpointHealth>

/** The health as it was stored. */
export function healthOf({
  failingSince,
  lastSuccessAt,
  isBreakerOpen,
  noticesSent,
}: Endpoint): EndpointHealth {
  return { failingSince, lastSuccessAt, isBreakerOpen, noticesSent }
}

/** The health after a success; the same object when nothing must be written. Pure. */
export function afterSuccess(health: EndpointHealth, nowMs: number): EndpointHealth {
  const { failingSince, lastSuccessAt, isBreakerOpen, noticesSent } = health
  const isRecent = lastSuccessAt !== null && nowMs - lastSuccessAt < HOUR_MS
  const isHealthy = failingSince === null && !isBreakerOpen && noticesSent === 0
  if (isRecent && isHealthy) return health
  return { ...HEALTHY, lastSuccessAt: nowMs }
}

/** The health after a failure; the same object when nothing must be written. Pure. */
export function afterFailure(
  health: EndpointHealth,
  failedAt: number,
  isBreakerOpen: boolean,
): EndpointHealth {
  if (health.failingSince !== null && health.isBreakerOpen === isBreakerOpen) return health
  return { ...health, failingSince: health.failingSince ?? failedAt, isBreakerOpen }
}
