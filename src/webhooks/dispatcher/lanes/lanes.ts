import type { Clock } from '../../../lib/clock.ts'
import { MINUTE_MS } from '../../../lib/durations.ts'
import type { Endpoint } from '../../endpoints/endpoint.ts'
import { healthOf } from '../../endpoints/endpoint-health.ts'
import { createCircuitBreaker } from './circuit-breaker.ts'
import { bufferCapacity, createLane, isProbeDue, type Lane, wantsRead } from './lane.ts'
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
  /** Sends nothing to an endpoint until {@link Lanes.restart}, whether it has a lane or not. */
  stop(endpointId: string): void
  /** Sends nothing more to an endpoint that is deleted. */
  end(endpointId: string): void
  /**
   * Reads everything of an enabled endpoint again, unless a 410 is not stored yet, after which it
   * is disabled or restarted. `keepsHealth`: the stored health is older.
   */
  restart(endpoint: Endpoint, keepsHealth: boolean): void
  /** Wakes lanes with due retries or probes, and removes those without work for a minute. */
  tick(): void
  size(): number
}

export interface LanesOptions {
  /** Epoch milliseconds, as the instants of deliveries. Never steps back. */
  clock: Clock
  monotonic: Clock
  bufferUse: BufferUse
  scheduler: Pick<LaneScheduler, 'update' | 'remove'>
  reader: Pick<LaneReader, 'request' | 'poke'>
  /** Called when a lane may send. */
  onReady(): void
}

/** Keeps what was learned of an endpoint between bursts of events. */
const IDLE_MS = MINUTE_MS

/** Creates an empty set of lanes. */
export function createLanes(options: LanesOptions): Lanes {
  const { clock, monotonic, bufferUse, scheduler, reader, onReady } = options
  const lanes = new Map<string, Lane>()
  /** Endpoints. Their lanes are removed when idle, and may be created again meanwhile. */
  const stopped = new Set<string>()

  function laneOf(endpoint: Endpoint): Lane {
    const known = lanes.get(endpoint.id)
    if (known !== undefined) return known
    const lane = createLane(endpoint, bufferUse, monotonic())
    lane.isStopped ||= stopped.has(endpoint.id)
    lanes.set(endpoint.id, lane)
    return lane
  }

  function halt(endpointId: string): void {
    const lane = lanes.get(endpointId)
    if (lane === undefined) return
    lane.isStopped = true
    lane.queue.reset()
    update(lane)
  }

  function update(lane: Lane): void {
    const nowMs = monotonic()
    // The endpoint may have become slow, or have begun to fail.
    lane.queue.trim(bufferCapacity(lane))
    if (scheduler.update(lane, nowMs)) onReady()
    if (wantsRead(lane, nowMs)) reader.request(lane)
    lane.wakeAt = lane.isStopped ? Number.POSITIVE_INFINITY : lane.queue.wakeAt()
    lane.idleSince = isIdle(lane) ? (lane.idleSince ?? nowMs) : null
  }

  return {
    get: (endpointId) => lanes.get(endpointId),
    of: laneOf,
    update,
    stop(endpointId) {
      stopped.add(endpointId)
      halt(endpointId)
    },
    end(endpointId) {
      stopped.delete(endpointId)
      halt(endpointId)
    },
    restart(endpoint, keepsHealth) {
      if ((lanes.get(endpoint.id)?.unstoredRefusals ?? 0) > 0) return
      stopped.delete(endpoint.id)
      const lane = laneOf(endpoint)
      // What was held and released since is in the store alone.
      if (lane.isStopped) lane.queue.reset()
      lane.isStopped = false
      lane.lastSucceededAt = null // Its URL may be another one.
      if (!keepsHealth) lane.health = healthOf(endpoint)
      if (lane.breaker.isOpen() && !lane.health.isBreakerOpen) {
        lane.breaker = createCircuitBreaker(false, monotonic())
        lane.concurrency.restart()
        lane.queue.resume(clock())
        // A command closed it. It may have held and released what is in memory.
        lane.queue.reset()
      } else lane.queue.reread()
      update(lane)
    },
    tick() {
      const epochMs = clock()
      const nowMs = monotonic()
      for (const lane of lanes.values()) {
        if (lane.wakeAt <= epochMs || isProbeDue(lane, nowMs)) {
          lane.queue.advance(epochMs)
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

function isIdle({ isStopped, isReadPending, queue }: Lane): boolean {
  return isStopped ? !queue.isBusy() && !isReadPending : queue.isEmpty()
}
