import {
  awaitsRead,
  canSend,
  isResponsive,
  type Lane,
  type LaneStanding,
  standingOf,
} from './lane.ts'

/** Requests in flight of the whole process. */
export interface ProcessLimits {
  total: number
  /** That start at endpoints that fail, are slow, or have never succeeded: all of them together. */
  restricted: number
}

/** Counts the requests in flight, and chooses the lane that may start the next one. */
export interface LaneScheduler {
  /** Queues a lane that can send, and removes one that cannot. Returns whether it can. */
  update(lane: Lane, nowMs: number): boolean
  /** The next lane in turn; `null` when none can send, or a limit is reached. */
  next(nowMs: number): Lane | null
  /** Counts a request that starts. Returns the share to give back in {@link finish}. */
  start(lane: Lane, nowMs: number): RequestShare
  /** A request takes long. One of a trusted lane counts as restricted from now on. */
  markSlow(share: RequestShare): void
  /** The caller then updates the lane. */
  finish(lane: Lane, share: RequestShare): void
  inFlight(): number
  /** Those of restricted lanes, and those that take long. */
  restrictedInFlight(): number
  remove(lane: Lane): void
}

export interface RequestShare {
  /** It started at a restricted lane. */
  isRestricted: boolean
  /** It started at a trusted lane without a recent success. */
  isUnresponsive: boolean
  /** It took longer than a second. */
  isSlow: boolean
}

/**
 * From this share of the requests on, all lanes have equal parts of them. Otherwise a few hundred
 * endpoints that stop responding together would hold every request until their timeouts.
 */
const CROWDED_SHARE = 0.2
/** Trusted lanes without a recent success have this share at most, and leave the rest. */
const UNRESPONSIVE_SHARE = 0.8
/** Deferred lanes that are updated in one turn. */
const REQUEUED_AT_ONCE = 256

/** Creates a scheduler that serves the lanes of each standing in turn. */
export function createLaneScheduler({ total, restricted }: ProcessLimits): LaneScheduler {
  // A set keeps its order and finds a lane at once.
  const queues: Record<LaneStanding, Set<Lane>> = {
    trusted: new Set(),
    unproven: new Set(),
    failing: new Set(),
  }
  /** Lanes that can send once fewer requests are in flight. */
  const deferred = new Set<Lane>()
  /**
   * Lanes that have requests in flight, can send, or wait for a read. Without the last ones, a few
   * endpoints could take all requests while the deliveries of the others are read.
   */
  const engaged = new Set<Lane>()
  let inFlight = 0
  let restrictedInFlight = 0
  let slowTrustedInFlight = 0
  let unresponsiveInFlight = 0
  let isRequeueDue = false
  let isFailingNext = false

  const isCrowded = () => inFlight >= CROWDED_SHARE * total

  function mustWait(lane: Lane, standing: LaneStanding, nowMs: number): boolean {
    if (!isCrowded()) return false
    const available = UNRESPONSIVE_SHARE * total
    if (lane.inFlight >= Math.max(1, Math.floor(available / engaged.size))) return true
    const isUnresponsive = standing === 'trusted' && !isResponsive(lane, nowMs)
    return isUnresponsive && unresponsiveInFlight >= available
  }

  function remove(lane: Lane): void {
    deferred.delete(lane)
    if (lane.queuedAs !== null) queues[lane.queuedAs].delete(lane)
    lane.queuedAs = null
  }

  function update(lane: Lane, nowMs: number): boolean {
    const isReady = canSend(lane, nowMs)
    if (isReady || lane.inFlight > 0 || awaitsRead(lane)) engaged.add(lane)
    else engaged.delete(lane)
    if (!isReady) {
      remove(lane)
      return false
    }
    const standing = standingOf(lane)
    if (mustWait(lane, standing, nowMs)) {
      remove(lane)
      deferred.add(lane)
      return false
    }
    deferred.delete(lane)
    if (lane.queuedAs !== standing) {
      remove(lane)
      lane.queuedAs = standing
      queues[standing].add(lane)
    }
    return true
  }

  /** Updates deferred lanes, the oldest first. Those that still must wait go to the end. */
  function requeueDeferred(nowMs: number): void {
    let left = Math.min(deferred.size, REQUEUED_AT_ONCE)
    for (const lane of deferred) {
      if (left === 0) break
      left -= 1
      update(lane, nowMs)
    }
    isRequeueDue = deferred.size > 0 && !isCrowded()
  }

  /** Failing lanes must not delay a new endpoint, so both queues take turns. */
  function nextRestricted(): Lane | undefined {
    const { unproven, failing } = queues
    const isFailing = failing.size > 0 && (isFailingNext || unproven.size === 0)
    isFailingNext = !isFailing
    return first(isFailing ? failing : unproven)
  }

  function choose(): Lane | undefined {
    if (inFlight >= total) return
    const free = Math.max(0, restricted - restrictedInFlight)
    const reserved = Math.min(free, queues.unproven.size + queues.failing.size)
    const trusted = first(queues.trusted)
    if (trusted !== undefined && inFlight + reserved < total) return trusted
    return reserved > 0 ? nextRestricted() : undefined
  }

  return {
    update,
    next(nowMs) {
      if (isRequeueDue) requeueDeferred(nowMs)
      for (let lane = choose(); lane !== undefined; lane = choose()) {
        const standing = lane.queuedAs
        const canStart = update(lane, nowMs)
        if (canStart && lane.queuedAs === standing) {
          remove(lane)
          return lane
        }
      }
      return null
    },
    start(lane, nowMs) {
      const isRestricted = standingOf(lane) !== 'trusted'
      const isUnresponsive = !isRestricted && !isResponsive(lane, nowMs)
      engaged.add(lane)
      lane.inFlight += 1
      inFlight += 1
      if (isRestricted) restrictedInFlight += 1
      if (isUnresponsive) unresponsiveInFlight += 1
      return { isRestricted, isUnresponsive, isSlow: false }
    },
    markSlow(share) {
      share.isSlow = true
      if (!share.isRestricted) slowTrustedInFlight += 1
    },
    finish(lane, { isRestricted, isUnresponsive, isSlow }) {
      lane.inFlight -= 1
      inFlight -= 1
      if (isRestricted) restrictedInFlight -= 1
      if (isUnresponsive) unresponsiveInFlight -= 1
      if (isSlow && !isRestricted) slowTrustedInFlight -= 1
      if (deferred.size > 0 && (isUnresponsive || !isCrowded())) isRequeueDue = true
    },
    inFlight: () => inFlight,
    restrictedInFlight: () => restrictedInFlight + slowTrustedInFlight,
    remove(lane) {
      remove(lane)
      engaged.delete(lane)
    },
  }
}

function first<T>(queue: ReadonlySet<T>): T | undefined {
  for (const lane of queue) return lane
  return
}
