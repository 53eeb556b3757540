import type { Endpoint } from '../../endpoints/endpoint.ts'
import { type EndpointHealth, healthOf } from '../../endpoints/endpoint-health.ts'
import {
  type AdaptiveConcurrency,
  createAdaptiveConcurrency,
  INITIAL_CONCURRENCY,
} from './adaptive-concurrency.ts'
import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts'
import type { BufferUse } from './lane-buffer.ts'
import { createLaneQueue, type LaneQueue } from './lane-queue.ts'

/** The deliveries of one endpoint in this process. Only endpoints with work have one. */
export interface Lane {
  readonly endpointId: string
  readonly queue: LaneQueue
  readonly concurrency: AdaptiveConcurrency
  breaker: CircuitBreaker
  /** Newer than the stored endpoint, until it is written. */
  health: EndpointHealth
  /** Of the last success in this process, monotonic milliseconds. */
  lastSucceededAt: number | null
  /** The first and last failure in this process since its last success, epoch milliseconds. */
  failures: { firstAt: number; lastAt: number } | null
  inFlight: number
  /** An attempt took longer than a second, and none has been quick since. */
  isSlow: boolean
  /** The endpoint is disabled or deleted. */
  isStopped: boolean
  /** The 410 responses whose results are not stored: until then nothing starts it. */
  unstoredRefusals: number
  /** During a read, and during the pause after a failed one. */
  isReadPending: boolean
  /** The queue of the scheduler in which it waits for its turn. */
  queuedAs: LaneStanding | null
  /** When the queue has something to do without an outside cause, epoch milliseconds. */
  wakeAt: number
  /** Since when it has had nothing to do, monotonic milliseconds; `null` while it has. */
  idleSince: number | null
}

/** Creates a lane with nothing to do. `nowMs`: monotonic. */
export function createLane(endpoint: Endpoint, bufferUse: BufferUse, nowMs: number): Lane {
  const health = healthOf(endpoint)
  const queue = createLaneQueue(bufferUse)
  if (health.isBreakerOpen) queue.suspend()
  return {
    endpointId: endpoint.id,
    queue,
    concurrency: createAdaptiveConcurrency(isProven(health) ? INITIAL_CONCURRENCY : 1),
    breaker: createCircuitBreaker(health.isBreakerOpen, nowMs),
    health,
    lastSucceededAt: null,
    failures: null,
    inFlight: 0,
    isSlow: false,
    isStopped: endpoint.disabledReason !== null || endpoint.deletedAt !== null,
    unstoredRefusals: 0,
    isReadPending: false,
    queuedAs: null,
    wakeAt: Number.POSITIVE_INFINITY,
    idleSince: null,
  }
}

const isProven = ({ failingSince, lastSuccessAt }: EndpointHealth) =>
  failingSince === null && lastSuccessAt !== null

/** `unproven`: it never succeeded, or it is slow. Both share a part of the process's requests. */
export type LaneStanding = 'trusted' | 'unproven' | 'failing'

export function standingOf({ health, isSlow }: Lane): LaneStanding {
  if (health.failingSince !== null || health.isBreakerOpen) return 'failing'
  return health.lastSuccessAt === null || isSlow ? 'unproven' : 'trusted'
}

/** How long a success shows that the endpoint responds. */
const RESPONSIVE_MS = 10_000

/**
 * Whether the endpoint has succeeded lately: one that was healthy may have stopped responding.
 * `nowMs`: monotonic.
 */
export function isResponsive({ lastSucceededAt }: Lane, nowMs: number): boolean {
  return lastSucceededAt !== null && nowMs - lastSucceededAt < RESPONSIVE_MS
}

/** Whether a request may start now, as far as this lane alone decides. `nowMs`: monotonic. */
export function canSend(lane: Lane, nowMs: number): boolean {
  const { queue, breaker, concurrency } = lane
  if (lane.isStopped || lane.inFlight >= concurrency.limit()) return false
  if (!breaker.isOpen()) return queue.hasReady()
  return breaker.probeAt() <= nowMs && hasProbe(lane)
}

/** A probe that prefers a new delivery waits for the read that may return one. */
function hasProbe({ queue, breaker, isReadPending }: Lane): boolean {
  if (queue.hasReady()) return true
  const mayRead = queue.size() === 0 && (queue.hasMore() || isReadPending)
  return queue.hasFailing() && !(breaker.prefersNew() && mayRead)
}

/** Whether the store should be read now. `nowMs`: monotonic. */
export function wantsRead(lane: Lane, nowMs: number): boolean {
  const { queue, breaker } = lane
  if (lane.isStopped || lane.isReadPending || !queue.hasMore()) return false
  if (!breaker.isOpen()) return queue.size() < readAhead(lane) || waitsForOrders(lane)
  if (breaker.probeAt() > nowMs || queue.size() > 0) return false
  return breaker.prefersNew() || !queue.hasFailing()
}

/** Whether all that is in memory waits for its order. A read leaves that to the store. */
const waitsForOrders = ({ queue, inFlight, concurrency }: Lane) =>
  !queue.hasReady() && inFlight < concurrency.limit()

/** Whether the lane can send once its deliveries are read. */
export function awaitsRead({ isStopped, breaker, queue, isReadPending }: Lane): boolean {
  return !isStopped && !breaker.isOpen() && (isReadPending || queue.hasMore())
}

/** Whether the next probe is due and may have a delivery. `nowMs`: monotonic. */
export function isProbeDue({ isStopped, queue, breaker }: Lane, nowMs: number): boolean {
  if (isStopped || breaker.probeAt() > nowMs) return false
  return queue.hasFailing() || queue.size() > 0 || queue.hasMore()
}

/**
 * The rows of one read: a failing endpoint needs few, and 10,000 of them must fit in memory.
 * `isFull`: memory is at its limit.
 */
export function pageSize(lane: Lane, isFull: boolean): number {
  if (lane.breaker.isOpen()) return 1
  const limit = readAhead(lane)
  if (lane.lastSucceededAt === null || standingOf(lane) !== 'trusted') return isFull ? 1 : limit
  return isFull ? limit : Math.max(2 * limit, MIN_TRUSTED_PAGE)
}

/** A read for a thousand endpoints that stopped responding before must not fill the memory. */
function readAhead({ lastSucceededAt, concurrency }: Lane): number {
  const limit = concurrency.limit()
  return lastSucceededAt === null ? Math.min(limit, FIRST_PAGE) : limit
}

/** How many deliveries the lane keeps in memory: at least those of a read that it wants. */
export function bufferCapacity(lane: Lane): number {
  return standingOf(lane) === 'trusted' ? TRUSTED_BUFFER : 2 * lane.concurrency.limit()
}

const FIRST_PAGE = 2
const MIN_TRUSTED_PAGE = 16
const TRUSTED_BUFFER = 128
