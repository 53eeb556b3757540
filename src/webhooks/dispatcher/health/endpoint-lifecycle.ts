import type { Clock } from '../../../lib/clock.ts'
import { MINUTE_MS } from '../../../lib/durations.ts'
import { FAILED_STATES } from '../../deliveries/delivery.ts'
import type { DeliveryStore } from '../../deliveries/delivery-store.ts'
import type { DisabledReason, Endpoint } from '../../endpoints/endpoint.ts'
import type { EndpointDirectory } from '../../endpoints/endpoint-directory.ts'
import { HEALTHY } from '../../endpoints/endpoint-health.ts'
import type { EndpointStore } from '../../endpoints/endpoint-store.ts'
import type { Lanes } from '../lanes/lanes.ts'
import { createDisabledNotices, type DisabledNoticesOptions } from './disabled-notices.ts'
import type { HealthWriter } from './health-writer.ts'

/** Applies changes of endpoints to their lanes and deliveries. */
export interface EndpointLifecycle {
  /**
   * Finds what is pending or held: when a term begins, and again from time to time, in case a change was
   * missed.
   * @throws Unavailable
   */
  load(): Promise<void>
  /** Applies endpoints that changed: their pending deliveries are held, released or canceled. */
  apply(changed: readonly Endpoint[]): void
  /**
   * Applies an endpoint that has a held delivery as it is stored, which the directory may not show
   * yet. On return the lane is stopped until the change is applied, unless {@link load} did not know
   * the endpoint, and is not finished.
   * @throws Unavailable
   */
  applyStored(id: string): Promise<void>
  /**
   * Disables an endpoint after failures, unless a command changed it meanwhile. `failedAt`: one of
   * these failures, epoch milliseconds. One that is `failing` is healthy instead when every delivery
   * that failed was canceled: its few attempts say nothing of all the time since.
   */
  disable(endpoint: Endpoint, reason: DisabledReason, failedAt: number): void
  /** Waits for the changes in progress. */
  settle(): Promise<void>
}

export interface EndpointLifecycleOptions extends DisabledNoticesOptions {
  endpoints: Pick<EndpointStore, 'byId' | 'update'>
  deliveries: Pick<
    DeliveryStore,
    | 'hold'
    | 'releaseHeld'
    | 'cancel'
    | 'limitInstants'
    | 'nextDueByEndpoint'
    | 'heldEndpoints'
    | 'failingSince'
    | 'list'
  >
  directory: Pick<EndpointDirectory, 'byId' | 'all'>
  lanes: Lanes
  health: Pick<HealthWriter, 'isStale' | 'set'>
  /** Epoch milliseconds. */
  clock: Clock
  /** The same, but it never steps back. */
  dueClock: Clock
  /** No attempt is due later than this from now. */
  longestDelayMs: number
}

/** Attempts may fail during a load, after it read the clock. It must not change them. */
const LOAD_MARGIN_MS = MINUTE_MS
/** The newest deliveries among which one that expired is looked for. */
const MAX_EXPIRED_READ = 100

/** Creates the lifecycle. Changes of one endpoint are applied in their order. */
export function createEndpointLifecycle(options: EndpointLifecycleOptions): EndpointLifecycle {
  const { deliveries, directory, lanes, clock } = options
  const disabled = new Set<string>()
  const notices = createDisabledNotices(options)
  const working = new Map<string, Promise<void>>()

  function enqueue(id: string, work: () => Promise<unknown>): void {
    const done = (working.get(id) ?? Promise.resolve())
      .then(() => options.persist(work))
      .finally(() => {
        if (working.get(id) === done) working.delete(id)
      })
    working.set(id, done)
  }

  /** The stored endpoint; never older than a change of it that is applied during the read. */
  async function readCurrent(id: string): Promise<Endpoint | null> {
    for (;;) {
      const known = directory.byId(id)
      const endpoint = await options.endpoints.byId(id)
      if (directory.byId(id) === known) return endpoint
    }
  }

  function hold(id: string): void {
    lanes.stop(id)
    disabled.add(id)
    enqueue(id, () => deliveries.hold(id, clock()))
  }

  function cancel(id: string): void {
    lanes.stop(id)
    disabled.delete(id)
    enqueue(id, () => deliveries.cancel(id))
  }

  /** The directory does not have an endpoint that was just created. */
  function cancelOfDeleted(id: string): void {
    enqueue(id, async () => {
      if ((await options.endpoints.byId(id)) === null) await deliveries.cancel(id)
    })
  }

  /** With the endpoint of that moment: it may have changed while deliveries were released. */
  function restart(id: string): void {
    const endpoint = directory.byId(id)
    if (endpoint === undefined || endpoint.disabledReason !== null) return
    const lane = lanes.get(id)
    lanes.restart(endpoint, lane !== undefined && options.health.isStale(lane))
  }

  /** The lane stays stopped until all are released, so that they are sent in their order. */
  function release(id: string): void {
    enqueue(id, async () => {
      const endpoint = await readCurrent(id)
      if (endpoint === null) return
      // The directory may show the endpoint as it was before it was disabled.
      if (endpoint.disabledReason !== null) {
        disabled.add(id)
        return
      }
      await deliveries.releaseHeld(id, clock())
      restart(id)
    })
  }

  /** Whether a delivery that failed since is still retried, or ended without a success. */
  async function hasFailed(endpointId: string, sinceMs: number): Promise<boolean> {
    const retried = await deliveries.failingSince(endpointId, sinceMs, 1)
    if (retried.length > 0) return true
    const query = { endpointId, states: FAILED_STATES, limit: MAX_EXPIRED_READ }
    const ended = await deliveries.list(query)
    return ended.some(({ attempts }) => (attempts.at(-1)?.at ?? -Infinity) >= sinceMs)
  }

  function clearFailure(id: string): void {
    const lane = lanes.get(id)
    if (lane !== undefined) options.health.set(lane, { ...lane.health, ...HEALTHY })
    restart(id)
  }

  /** An earlier dispatcher held or planned them by an endpoint that had changed already. */
  function recoverHeld(id: string): void {
    const endpoint = directory.byId(id)
    if (endpoint === undefined) {
      cancelOfDeleted(id)
      return
    }
    if (endpoint.disabledReason !== null || working.has(id)) return
    lanes.of(endpoint)
    lanes.stop(id)
    release(id)
  }

  /** An earlier dispatcher disabled it, and may have ended before its notice. */
  function recoverNotice(id: string): void {
    if (working.has(id)) return // A load that fails is repeated soon.
    enqueue(id, async () => {
      const endpoint = await options.endpoints.byId(id)
      if (endpoint !== null) notices.send(endpoint)
    })
  }

  return {
    async load() {
      for (const endpoint of directory.all()) {
        if (endpoint.disabledReason !== null) disabled.add(endpoint.id)
        // An earlier version cleared both when the URL of a disabled endpoint changed.
        if (endpoint.failingSince !== null && notices.isLacking(endpoint))
          recoverNotice(endpoint.id)
      }
      // The clock of an earlier dispatcher may have been far ahead.
      const nowMs = options.dueClock()
      await deliveries.limitInstants({
        nextAt: nowMs + options.longestDelayMs,
        firstFailedAt: nowMs + LOAD_MARGIN_MS,
      })
      for (const id of await deliveries.heldEndpoints()) recoverHeld(id)
      for (const [id, nextAt] of await deliveries.nextDueByEndpoint()) {
        const endpoint = directory.byId(id)
        if (endpoint === undefined) cancelOfDeleted(id)
        else if (endpoint.disabledReason !== null) hold(id)
        else {
          const known = lanes.get(id)
          const lane = known ?? lanes.of(endpoint)
          if (known === undefined) lane.queue.expect(nextAt)
          else lane.queue.readAt(nextAt)
          lanes.update(lane)
        }
      }
    },
    apply(changed) {
      for (const { id, deletedAt, disabledReason } of changed) {
        if (deletedAt !== null) cancel(id)
        else if (disabledReason !== null) hold(id)
        else if (disabled.delete(id)) release(id)
        else if (!working.has(id)) restart(id)
      }
    },
    async applyStored(id) {
      if (disabled.has(id) || working.has(id)) return
      const endpoint = await readCurrent(id)
      if (disabled.has(id) || working.has(id)) return
      lanes.stop(id)
      if (endpoint === null) cancel(id)
      else if (endpoint.disabledReason !== null) hold(id)
      else release(id)
    },
    disable({ id, url }, reason, failedAt) {
      lanes.stop(id)
      enqueue(id, async () => {
        // A success that overtook the failure may have cleared it. A replay and a notice need it.
        const knownSince = lanes.get(id)?.health.failingSince ?? failedAt
        const failingSince = Math.min(knownSince, failedAt)
        if (reason === 'failing' && !(await hasFailed(id, failingSince))) {
          clearFailure(id)
          return
        }
        const changed = await options.endpoints.update(id, (endpoint) => {
          if (endpoint.disabledReason !== null || endpoint.url !== url) return null
          // A command enabled it, which clears the failure.
          if (reason === 'failing' && endpoint.failingSince === null) return null
          return { ...endpoint, isBreakerOpen: false, disabledReason: reason, failingSince }
        })
        // Another 410 or a command may have disabled it, which the directory may not show yet.
        const current = changed ?? (await readCurrent(id))
        if (current === null) return
        if (current.disabledReason === null) {
          restart(id)
          return
        }
        disabled.add(id)
        notices.send(current)
        await deliveries.hold(id, clock())
      })
    },
    async settle() {
      await Promise.all(working.values())
    },
  }
}
