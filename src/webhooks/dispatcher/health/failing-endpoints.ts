import type { Clock } from '../../../lib/clock.ts'
import { HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts'
import { JITTER } from '../../deliveries/retry-schedule.ts'
import type { Endpoint } from '../../endpoints/endpoint.ts'
import type { EndpointDirectory } from '../../endpoints/endpoint-directory.ts'
import type { Notice, NoticeKind } from '../dispatcher-events.ts'
import { awaitsRead, type Lane } from '../lanes/lane.ts'
import type { Lanes } from '../lanes/lanes.ts'
import type { EndpointLifecycle } from './endpoint-lifecycle.ts'
import type { HealthWriter } from './health-writer.ts'

export interface FailingEndpointsOptions {
  directory: Pick<EndpointDirectory, 'all'>
  lanes: Pick<Lanes, 'of'>
  health: Pick<HealthWriter, 'set'>
  lifecycle: Pick<EndpointLifecycle, 'disable'>
  /** Epoch milliseconds. */
  clock: Clock
  /** An endpoint without success for this long is disabled, in milliseconds. */
  giveUpMs: number
  notify(notice: Notice): void
}

/** Whether what is due was attempted. While the breaker is open, a few probes stand for all. */
function isTried(lane: Lane): boolean {
  const { breaker, queue } = lane
  return breaker.isOpen() ? breaker.isConfirmed() : !queue.hasReady() && !awaitsRead(lane)
}

/** The notices before the last one, in the order of `noticesSent`. */
const NOTICES: readonly { kind: NoticeKind; afterMs: number }[] = [
  { kind: 'failing_1h', afterMs: HOUR_MS },
  { kind: 'failing_24h', afterMs: 24 * HOUR_MS },
]

/** The time for the last request, and for its result to be stored. */
const GRACE_MS = MINUTE_MS

/**
 * Creates a function that sends notices of endpoints that fail for long, and disables those without
 * a success during a whole retry schedule.
 */
export function createFailingEndpoints(options: FailingEndpointsOptions): () => void {
  const { directory, lanes, health, lifecycle, clock, giveUpMs } = options

  function check(endpoint: Endpoint, lane: Lane, failingSince: number, nowMs: number): void {
    const failingMs = nowMs - failingSince
    if (hasGivenUp(lane, failingSince, nowMs)) {
      lifecycle.disable(endpoint, 'failing', failingSince)
      return
    }
    const due = NOTICES.filter(({ afterMs }) => failingMs >= afterMs)
    const notice = due.at(-1)
    if (notice === undefined || lane.health.noticesSent >= due.length) return
    // Counted before it is sent: a notice may be lost, and the log has it in any case.
    health.set(lane, { ...lane.health, noticesSent: due.length })
    const { id, accountId } = endpoint
    const { kind } = notice
    options.notify({ kind, endpointId: id, accountId, failingSince, disabledReason: null })
  }

  /**
   * The last attempts of a schedule may be a little late, and each of them could succeed. So could
   * the first ones after a stop of this process that lasted longer than the schedule: the receiver
   * may reject one order alone.
   */
  function hasGivenUp(lane: Lane, failingSince: number, nowMs: number): boolean {
    const { queue, failures } = lane
    const endsAt = failingSince + giveUpMs
    if (nowMs < endsAt) return false
    if (queue.isEmpty()) return true
    // What is pending is attempted within the longest delay of the schedule.
    if (failures === null || failures.lastAt < endsAt) return false
    // Results are stored first, because what is pending then is held.
    if (isTried(lane) && !queue.isBusy()) return true
    // A lane may always be busy, or always have more. Jitter lengthens a schedule by that share.
    return nowMs >= Math.max(endsAt, failures.firstAt) + giveUpMs * JITTER + GRACE_MS
  }

  return () => {
    const nowMs = clock()
    for (const endpoint of directory.all()) {
      if (endpoint.failingSince === null || endpoint.disabledReason !== null) continue
      const lane = lanes.of(endpoint)
      const { failingSince } = lane.health
      if (failingSince !== null && !lane.isStopped) check(endpoint, lane, failingSince, nowMs)
    }
  }
}
