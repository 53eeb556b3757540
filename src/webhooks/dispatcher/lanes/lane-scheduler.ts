import { canSend, type Lane, type LaneStanding, standingOf } from './lane.ts'

/** Requests in flight of the whole process. */
export interface ProcessLimits {
  total: number
  /** Of endpoints that fail, are slow, or have never succeeded: all of them together. */
  restricted: number
}

/** Counts the requests in flight, and chooses the lane that may start the next one. */
export interface LaneScheduler {
  /** Queues a lane that can send, and removes one that cannot. Returns whether it can. */
  update(lane: Lane, nowMs: number): boolean
  /** The next lane in turn; `null` when none can send, or a limit is reached. */
  next(nowMs: number): Lane | null
  /** Counts a request that starts. Returns the share to give back in {@link finish}. */
  start(lane: Lane): RequestShare
  /** A request of a trusted lane takes long: it counts as restricted. */
  markSlow(share: RequestShare): void
  finish(lane: Lane, share: RequestShare): void
  inFlight(): number
  restrictedInFlight(): number
  remove(lane: Lane): void
}

export interface RequestShare {
  isRestricted: boolean
}

/** Creates a scheduler that serves the lanes of each standing in turn. */
export function createLaneScheduler({ total, restricted }: ProcessLimits): LaneScheduler {
  // A set keeps its order and finds a lane at once.
  const queues: Record<LaneStanding, Set<Lane>> = {
    trusted: new Set(),
    unproven: new Set(),
    failing: new Set(),
  }
  let inFlight = 0
  let restrictedInFlight = 0
  let isFailingNext = false

  function remove(lane: Lane): void {
    if (lane.queuedAs !== null) queues[lane.queuedAs].delete(lane)
    lane.queuedAs = null
  }

  function update(lane: Lane, nowMs: number): boolean {
    if (!canSend(lane, nowMs)) {
      remove(lane)
      return false
    }
    const standing = standingOf(lane)
    if (lane.queuedAs !== standing) {
      remove(lane)
      lane.queuedAs = standing
      queues[standing].add(lane)
    }
    return true
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
      for (let lane = choose(); lane !== undefined; lane = choose()) {
        const isCurrent = lane.queuedAs === standingOf(lane) && canSend(lane, nowMs)
        remove(lane)
        if (isCurrent) return lane
        update(lane, nowMs)
      }
      return null
    },
    start(lane) {
      const isRestricted = standingOf(lane) !== 'trusted'
      lane.inFlight += 1
      inFlight += 1
      if (isRestricted) restrictedInFlight += 1
      return { isRestricted }
    },
    markSlow(share) {
      if (!share.isRestricted) restrictedInFlight += 1
      share.isRestricted = true
    },
    finish(lane, { isRestricted }) {
      lane.inFlight -= 1
      inFlight -= 1
      if (isRestricted) restrictedInFlight -= 1
    },
    inFlight: () => inFlight,
    restrictedInFlight: () => restrictedInFlight,
    remove,
  }
}

function first<T>(queue: ReadonlySet<T>): T | undefined {
  for (const lane of queue) return lane
  return
}
