import type { Clock } from '../../../lib/clock.ts'
import type { Endpoint } from '../../endpoints/endpoint.ts'
import { createCircuitBreaker } from './circuit-breaker.ts'
import { bufferCapacity, createLane, healthOf, type Lane, nextWakeAt, wantsRead } from './lane.ts'
import type { BufferUse } from './lane-buffer.ts'
import type { LaneReader } from './lane-reader.ts'
import type { LaneScheduler } from './lane-scheduler.ts'

/** The lanes of all endpoints with work. */
export interface Lanes {
  get(endpointId: string): Lane | undefined
  /** The lane of an endpoint, created when it has none. */
  of(endpoint: Endpoint): Lane
  /** Queues a lane for sending and reading after any change of its state. */
  update(lane: Lane): void
  /** Sends nothing more to an endpoint. */
  stop(endpointId: string): void
  /** Reads everything of an enabled endpoint again. `keepsHealth`: the stored health is older. */
  restart(endpoint: Endpoint, keepsHealth: boolean): void
  /** Wakes lanes whose time has come, and removes those that had nothing to do for a minute. */
  tick(): void
  size(): number
}

export interface LanesOptions {
  clock: Clock
  bufferUse: BufferUse
  scheduler: Pick<LaneScheduler, 'update' | 'remove'>
  reader: Pick<LaneReader, 'request' | 'poke'>
  /** Called when a lane may send. */
  onReady(): void
}

/** Keeps what was learned of an endpoint between bursts of events. */
const IDLE_MS = 60_000

/** Creates an empty set of lanes. */
export function createLanes({ clock, bufferUse, scheduler, reader, onReady }: LanesOptions): Lanes {
  const lanes = new Map<string, Lane>()

  function laneOf(endpoint: Endpoint): Lane {
    const lane = lanes.get(endpoint.id) ?? createLane(endpoint, bufferUse, clock())
    lanes.set(endpoint.id, lane)
    return lane
  }

  function update(lane: Lane): void {
    const nowMs = clock()
    // The endpoint may have become slow, or have begun to fail.
    lane.queue.trim(bufferCapacity(lane))
    if (scheduler.update(lane, nowMs)) onReady()
    if (wantsRead(lane, nowMs)) reader.request(lane)
    lane.wakeAt = nextWakeAt(lane)
    lane.idleSince = isIdle(lane) ? (lane.idleSince ?? nowMs) : null
  }

  return {
    get: (endpointId) => lanes.get(endpointId),
    of: laneOf,
    update,
    stop(endpointId) {
      const lane = lanes.get(endpointId)
      if (lane === undefined) return
      lane.isStopped = true
      lane.queue.reset()
      update(lane)
    },
    restart(endpoint, keepsHealth) {
      const lane = laneOf(endpoint)
      lane.isStopped = false
      lane.lastSucceededAt = null // Its URL may be another one.
      if (!keepsHealth) lane.health = healthOf(endpoint)
      if (lane.breaker.isOpen() && !lane.health.isBreakerOpen) {
        lane.breaker = createCircuitBreaker(false, clock())
        lane.concurrency.restart()
        lane.queue.resume(clock())
      }
      lane.queue.reset()
      update(lane)
    },
    tick() {
      const nowMs = clock()
      for (const lane of lanes.values()) {
        if (lane.wakeAt <= nowMs) {
          lane.queue.advance(nowMs)
          update(lane)
        }
        if (lane.idleSince === null || nowMs - lane.idleSince < IDLE_MS) continue
        lanes.delete(lane.endpointId)
        scheduler.remove(lane)
      }
      reader.poke()
    },
    size: () => lanes.size,
  }
}

function isIdle({ isStopped, isReading, queue }: Lane): boolean {
  return isStopped ? !queue.isBusy() && !isReading : queue.isEmpty()
}
