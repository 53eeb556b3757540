import type { Clock } from '../../../lib/clock.ts'
import type { DeliveryStore } from '../../deliveries/delivery-store.ts'
import type { Endpoint } from '../../endpoints/endpoint.ts'
import type { EndpointDirectory } from '../../endpoints/endpoint-directory.ts'
import type { EndpointStore } from '../../endpoints/endpoint-store.ts'
import type { Lanes } from '../lanes/lanes.ts'
import type { HealthWriter } from './health-writer.ts'

/** Stops and starts lanes, and holds, releases or cancels their deliveries. */
export interface EndpointTransitions {
  /** The endpoints that are known to be disabled, or to have a URL that the directory lacks. */
  readonly disabled: Set<string>
  /** Runs work on an endpoint after the earlier work on it, until it succeeds. */
  enqueue(id: string, work: () => Promise<unknown>): void
  /** Whether work on the endpoint is in progress. */
  isWorking(id: string): boolean
  /** The stored endpoint; never older than a change of it that is applied during the read. */
  readCurrent(id: string): Promise<Endpoint | null>
  hold(id: string): void
  cancel(id: string): void
  /** Cancels unless the endpoint exists: the directory does not have one that was just created. */
  cancelOfDeleted(id: string): void
  /** The lane is stopped until all are released, so that they are sent in their order. */
  release(id: string): void
  /** Starts the lane, unless the endpoint is disabled or deleted. */
  restart(id: string): void
  /** Waits for the work in progress. */
  settle(): Promise<void>
}

export interface EndpointTransitionsOptions {
  endpoints: Pick<EndpointStore, 'byId'>
  deliveries: Pick<DeliveryStore, 'hold' | 'releaseHeld' | 'cancel'>
  directory: Pick<EndpointDirectory, 'byId'>
  lanes: Pick<Lanes, 'get' | 'stop' | 'end' | 'restart'>
  health: Pick<HealthWriter, 'isStale'>
  /** Epoch milliseconds. */
  clock: Clock
  /** Runs work that is repeated while the store is unavailable. Never rejects. */
  persist(work: () => Promise<unknown>): Promise<void>
}

/** Creates the transitions. */
export function createEndpointTransitions(
  options: EndpointTransitionsOptions,
): EndpointTransitions {
  const { endpoints, deliveries, directory, lanes, health, clock } = options
  const disabled = new Set<string>()
  const working = new Map<string, Promise<void>>()

  function enqueue(id: string, work: () => Promise<unknown>): void {
    const done = (working.get(id) ?? Promise.resolve())
      .then(() => options.persist(work))
      .finally(() => {
        if (working.get(id) === done) working.delete(id)
      })
    working.set(id, done)
  }

  async function readCurrent(id: string): Promise<Endpoint | null> {
    for (;;) {
      const known = directory.byId(id)
      const endpoint = await endpoints.byId(id)
      if (directory.byId(id) === known) return endpoint
    }
  }

  /** With the endpoint of that moment: it may have changed while deliveries were released. */
  function restart(id: string): void {
    const endpoint = directory.byId(id)
    if (endpoint === undefined || endpoint.disabledReason !== null) return
    const lane = lanes.get(id)
    lanes.restart(endpoint, lane !== undefined && health.isStale(lane))
  }

  return {
    disabled,
    enqueue,
    isWorking: (id) => working.has(id),
    readCurrent,
    hold(id) {
      lanes.stop(id)
      disabled.add(id)
      enqueue(id, () => deliveries.hold(id, clock()))
    },
    cancel(id) {
      lanes.end(id)
      disabled.delete(id)
      enqueue(id, () => deliveries.cancel(id))
    },
    cancelOfDeleted(id) {
      enqueue(id, async () => {
        if ((await endpoints.byId(id)) === null) await deliveries.cancel(id)
      })
    },
    release(id) {
      lanes.stop(id)
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
    },
    restart,
    async settle() {
      // One may start another.
      while (working.size > 0) await Promise.all(working.values())
    },
  }
}
