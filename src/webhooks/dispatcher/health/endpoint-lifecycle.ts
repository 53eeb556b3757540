import {
  type Attempt,
  type Delivery,
  FAILED_STATES,
  pendingAt,
  type StoredDelivery,
} from '../../deliveries/delivery.ts'
import type { DeliveryStore } from '../../deliveries/delivery-store.ts'
import { isSuccess } from '../../deliveries/record-attempt.ts'
import type { DisabledReason, Endpoint } from '../../endpoints/endpoint.ts'
import type { EndpointDirectory } from '../../endpoints/endpoint-directory.ts'
import { HEALTHY } from '../../endpoints/endpoint-health.ts'
import type { EndpointStore } from '../../endpoints/endpoint-store.ts'
import { isUnread } from '../attempts.ts'
import type { Lanes } from '../lanes/lanes.ts'
import { createDisabledNotices, type DisabledNoticesOptions } from './disabled-notices.ts'
import { createEndpointRecovery, type EndpointRecoveryOptions } from './endpoint-recovery.ts'
import {
  createEndpointTransitions,
  type EndpointTransitionsOptions,
} from './endpoint-transitions.ts'
import type { HealthWriter } from './health-writer.ts'

/** A 410. */
export interface Refusal {
  /** The delivery as it is stored after it; `null` for one that was removed. */
  delivery: StoredDelivery | null
  /** Called once it is known whether another URL receives the delivery, as it is stored then. */
  onDecided(stored: StoredDelivery | null): void
}

/** Applies changes of endpoints to their lanes and deliveries. */
export interface EndpointLifecycle {
  /**
   * Finds what is pending or held: when a term begins, and again from time to time, in case a
   * change was missed.
   * @throws Unavailable
   */
  load(): Promise<void>
  /** Applies endpoints that changed: their pending deliveries are held, released or canceled. */
  apply(changed: readonly Endpoint[]): void
  /**
   * Applies an endpoint that has a held delivery as it is stored, which the directory may not show
   * yet. On return the lane is stopped until the change is applied, unless {@link load} did not
   * know the endpoint, and is not finished.
   * @throws Unavailable
   */
  applyStored(id: string): Promise<void>
  /**
   * Disables an endpoint after failures, unless a command changed it meanwhile. `failedAt`: one of
   * these failures, epoch milliseconds. One that is `failing` is healthy instead when every
   * delivery that failed was canceled: its few attempts say nothing of all the time since.
   * `refusal`: of a 410. Its delivery is pending again when the stored endpoint has another URL.
   */
  disable(endpoint: Endpoint, reason: DisabledReason, failedAt: number, refusal?: Refusal): void
  /** Waits for the changes in progress. */
  settle(): Promise<void>
}

type Options = DisabledNoticesOptions &
  EndpointTransitionsOptions &
  Omit<EndpointRecoveryOptions, 'transitions' | 'notices'>

export interface EndpointLifecycleOptions extends Options {
  endpoints: Pick<EndpointStore, 'byId' | 'update'>
  deliveries: Options['deliveries'] & Pick<DeliveryStore, 'failingSince' | 'list' | 'save'>
  directory: Pick<EndpointDirectory, 'byId' | 'all'>
  lanes: Lanes
  health: Pick<HealthWriter, 'isStale' | 'set'>
}

/** The deliveries of each kind among which one that failed is looked for. */
const MAX_FAILED_READ = 100

/** Creates the lifecycle. Changes of one endpoint are applied in their order. */
export function createEndpointLifecycle(options: EndpointLifecycleOptions): EndpointLifecycle {
  const { endpoints, deliveries, directory, lanes, clock } = options
  const transitions = createEndpointTransitions(options)
  const { disabled, isWorking, readCurrent, hold, cancel, release, restart } = transitions
  const notices = createDisabledNotices(options)

  /** Whether a delivery whose request failed since is still retried, or ended without a success. */
  async function hasFailed(endpointId: string, sinceMs: number): Promise<boolean> {
    const isFailedRequest = (one: Attempt) => one.at >= sinceMs && !isSuccess(one) && !isUnread(one)
    const hasFailedRequest = ({ attempts }: Delivery) => attempts.some(isFailedRequest)
    const begun = await deliveries.failingSince(endpointId, sinceMs, MAX_FAILED_READ)
    // Where orders could not be read, there may be many of them before one whose request failed.
    if (begun.length === MAX_FAILED_READ || begun.some(hasFailedRequest)) return true
    // Its first failure may be before a success of another one.
    const retried = await deliveries.failingSince(endpointId, 0, MAX_FAILED_READ)
    if (retried.some(hasFailedRequest)) return true
    const query = { endpointId, states: FAILED_STATES, limit: MAX_FAILED_READ }
    return (await deliveries.list(query)).some(hasFailedRequest)
  }

  function clearFailure(id: string): void {
    const lane = lanes.get(id)
    if (lane !== undefined) options.health.set(lane, { ...lane.health, ...HEALTHY })
    restart(id)
  }

  /** Makes a delivery pending that another URL refused, and returns it as it is stored then. */
  async function resend(refused: StoredDelivery | null): Promise<StoredDelivery | null> {
    if (refused?.state !== 'failed') return refused
    const dueAt = Math.min(options.dueClock(), refused.event.recordedAt)
    const [saved = null] = await deliveries.save([{ ...refused, ...pendingAt(dueAt) }])
    return saved
  }

  return {
    load: createEndpointRecovery({ ...options, transitions, notices }),
    apply(changed) {
      for (const { id, deletedAt, disabledReason } of changed) {
        if (deletedAt !== null) cancel(id)
        else if (disabledReason !== null) hold(id)
        else if (disabled.delete(id)) release(id)
        else if (!isWorking(id)) restart(id)
      }
    },
    async applyStored(id) {
      if (disabled.has(id) || isWorking(id)) return
      const endpoint = await readCurrent(id)
      if (disabled.has(id) || isWorking(id)) return
      if (endpoint === null) cancel(id)
      else if (endpoint.disabledReason !== null) hold(id)
      else release(id)
    },
    disable({ id, url }, reason, failedAt, refusal) {
      lanes.stop(id)
      transitions.enqueue(id, async () => {
        // A success that overtook the failure may have cleared it. A replay and a notice need it.
        const knownSince = lanes.get(id)?.health.failingSince ?? failedAt
        const failingSince = Math.min(knownSince, failedAt)
        if (reason === 'failing' && !(await hasFailed(id, failingSince))) {
          clearFailure(id)
          return
        }
        await endpoints.update(id, (endpoint) => {
          if (endpoint.disabledReason !== null || endpoint.url !== url) return null
          // A command enabled it, which clears the failure.
          if (reason === 'failing' && endpoint.failingSince === null) return null
          return { ...endpoint, isBreakerOpen: false, disabledReason: reason, failingSince }
        })
        // Another 410 or a command may have changed it, which the directory may not show yet.
        const current = await readCurrent(id)
        const isMoved = current !== null && current.url !== url
        // Restarted now, the lane would send to the old URL again. The change starts it once read.
        const isUnknown = isMoved && directory.byId(id)?.url === url
        // At once: a change that is read from now on must find it.
        if (isUnknown || current?.disabledReason != null) disabled.add(id)
        // Before the hold, which includes it.
        const refused = refusal?.delivery ?? null
        const decided = isMoved ? await resend(refused) : refused
        if (current === null) lanes.end(id)
        else if (current.disabledReason === null) {
          // Not a mere restart: what was held before it was enabled may not be released yet.
          if (!isUnknown) release(id)
        } else {
          notices.send(current)
          await deliveries.hold(id, clock())
        }
        refusal?.onDecided(decided)
      })
    },
    settle: transitions.settle,
  }
}
