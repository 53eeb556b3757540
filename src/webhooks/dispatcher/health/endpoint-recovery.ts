import type { Clock } from '../../../lib/clock.ts'
import { MINUTE_MS } from '../../../lib/durations.ts'
import type { DeliveryStore } from '../../deliveries/delivery-store.ts'
import type { EndpointDirectory } from '../../endpoints/endpoint-directory.ts'
import type { EndpointStore } from '../../endpoints/endpoint-store.ts'
import type { Lanes } from '../lanes/lanes.ts'
import type { DisabledNotices } from './disabled-notices.ts'
import type { EndpointTransitions } from './endpoint-transitions.ts'

export interface EndpointRecoveryOptions {
  endpoints: Pick<EndpointStore, 'byId'>
  deliveries: Pick<DeliveryStore, 'limitInstants' | 'nextDueByEndpoint' | 'heldEndpoints'>
  directory: Pick<EndpointDirectory, 'byId' | 'all'>
  lanes: Lanes
  transitions: EndpointTransitions
  notices: DisabledNotices
  /** Epoch milliseconds. Never steps back. */
  dueClock: Clock
  /** No attempt is due later than this from now. */
  longestDelayMs: number
  /** The first attempt is due this long after an event at most. */
  firstDelayMs: number
}

/** Attempts may fail during a load, after it read the clock. It must not change them. */
const LOAD_MARGIN_MS = MINUTE_MS

/**
 * Creates a function that finds what is pending or held, and completes what an earlier dispatcher
 * left undone. It throws Unavailable.
 */
export function createEndpointRecovery(options: EndpointRecoveryOptions): () => Promise<void> {
  const { endpoints, deliveries, directory, lanes, transitions, notices } = options

  /** An earlier dispatcher held or planned them by an endpoint that had changed already. */
  function recoverHeld(id: string): void {
    const endpoint = directory.byId(id)
    if (endpoint === undefined) {
      transitions.cancelOfDeleted(id)
      return
    }
    if (endpoint.disabledReason !== null || transitions.isWorking(id)) return
    transitions.release(id)
  }

  /** An earlier dispatcher disabled it, and may have ended before its notice. */
  function recoverNotice(id: string): void {
    if (transitions.isWorking(id)) return // A load that fails is repeated soon.
    transitions.enqueue(id, async () => {
      const endpoint = await endpoints.byId(id)
      if (endpoint !== null) notices.send(endpoint)
    })
  }

  function recoverPending(id: string, nextAt: number): void {
    const endpoint = directory.byId(id)
    if (endpoint === undefined) {
      transitions.cancelOfDeleted(id)
      return
    }
    if (endpoint.disabledReason !== null) {
      transitions.hold(id)
      return
    }
    const known = lanes.get(id)
    const lane = known ?? lanes.of(endpoint)
    if (known === undefined) lane.queue.expect(nextAt)
    else lane.queue.readAt(nextAt)
    lanes.update(lane)
  }

  return async () => {
    for (const endpoint of directory.all()) {
      if (endpoint.disabledReason !== null) transitions.disabled.add(endpoint.id)
      // An earlier version cleared both when the URL of a disabled endpoint changed.
      if (endpoint.failingSince !== null && notices.isLacking(endpoint)) recoverNotice(endpoint.id)
    }
    // The clock of an earlier dispatcher may have been far ahead.
    const nowMs = options.dueClock()
    await deliveries.limitInstants({
      nextAt: nowMs + options.longestDelayMs,
      firstFailedAt: nowMs + LOAD_MARGIN_MS,
      // Later events of their orders, which are due at once, would go first.
      unfailed: { afterMs: nowMs + options.firstDelayMs + LOAD_MARGIN_MS, dueAt: nowMs },
    })
    for (const id of await deliveries.heldEndpoints()) recoverHeld(id)
    for (const [id, nextAt] of await deliveries.nextDueByEndpoint()) recoverPending(id, nextAt)
  }
}
