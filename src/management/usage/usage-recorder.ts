import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { createMutex } from '../../lib/async/mutex.ts'
import { retryUntilDeadline } from '../../lib/async/retry-until-deadline.ts'
import type { Clock } from '../../lib/clock.ts'
import { DAY_MS } from '../../lib/durations.ts'
import { dayOf, endOfDay } from './usage-day.ts'
import type { UsageCounters, UsageStore } from './usage-store.ts'

/** Half of the 10 s that a crash may lose, because a flush takes time. */
const FLUSH_MS = 5_000
/** An embedded store writes a chunk within one turn of the event loop. */
const CHUNK_COUNTERS = 250
/** How long the last flush is repeated, within the grace period of a stopped container. */
const CLOSE_DEADLINE_MS = 3_000
const TOO_MANY_REQUESTS = 429

export interface UsageRecorderOptions {
  store: Pick<UsageStore, 'save'>
  /** Epoch milliseconds. */
  clock: Clock
  /** Receives the first of failed flushes in a row, and the last flush of all when it fails. */
  onFailure(error: unknown): void
  /** A flush succeeded after failed ones. */
  onRecovered(): void
  flushMs?: number
}

/** Counts the authenticated responses of this process, by UTC day and key. */
export interface UsageRecorder {
  /** Counts one response in memory. */
  record(keyId: string, accountId: string, status: number): void
  /** Stores what changed since the last flush. Never rejects. */
  flush(): Promise<void>
  /** Stores the last counts and ends the periodic flushes. Never rejects. */
  close(): Promise<void>
}

/** The counts of one key on one day, as long as they can grow. */
interface Counter {
  keyId: string
  accountId: string
  requests: number
  byStatus: Map<number, number>
  rateLimited: number
  lastUsedAt: number
  /** `requests` at the last flush. */
  savedRequests: number
}

interface Day {
  name: string
  /** Epoch milliseconds. */
  endsAt: number
  /** Of its own, since a day starts again when the clock goes back, and its counters with it. */
  processId: string
  counters: Map<string, Counter>
}

/**
 * Creates a recorder that flushes periodically. Counters are absolute for this run of the process
 * and start of a day, so a repeated flush counts nothing twice.
 */
export function createUsageRecorder(options: UsageRecorderOptions): UsageRecorder {
  const { store, clock, onFailure, onRecovered, flushMs = FLUSH_MS } = options
  const oneAtATime = createMutex()
  let today = dayAt(clock())
  /** Days that ended are kept until their counts are stored. */
  let days = [today]
  let isFailing = false

  function startDay(nowMs: number): void {
    today = dayAt(nowMs)
    days.push(today)
  }

  function counterOf(keyId: string, accountId: string): Counter {
    const known = today.counters.get(keyId)
    if (known !== undefined) return known
    const counts = { requests: 0, byStatus: new Map(), rateLimited: 0, lastUsedAt: 0 }
    const counter = { keyId, accountId, ...counts, savedRequests: 0 }
    today.counters.set(keyId, counter)
    return counter
  }

  /** @throws the error of the store, which leaves the rest for the next call */
  async function saveChanges(): Promise<void> {
    for (const day of [...days]) {
      const changed = [...day.counters.values()].filter(isChanged)
      for (let at = 0; at < changed.length; at += CHUNK_COUNTERS) {
        const chunk = changed.slice(at, at + CHUNK_COUNTERS)
        const counted = chunk.map((counter) => snapshot(counter, day))
        await store.save(counted)
        chunk.forEach((counter, index) => {
          counter.savedRequests = counted[index]?.requests ?? 0
        })
        await setImmediate()
      }
    }
    days = days.filter((day) => day === today || [...day.counters.values()].some(isChanged))
  }

  /** The counts of a failed flush stay for the next one. */
  async function flush(): Promise<void> {
    try {
      await oneAtATime(saveChanges)
      if (isFailing) onRecovered()
      isFailing = false
    } catch (error) {
      if (!isFailing) onFailure(error)
      isFailing = true
    }
  }

  const timer = setInterval(() => void flush(), flushMs).unref()

  return {
    record(keyId, accountId, status) {
      const nowMs = clock()
      if (nowMs >= today.endsAt || nowMs < today.endsAt - DAY_MS) startDay(nowMs)
      const counter = counterOf(keyId, accountId)
      counter.requests += 1
      counter.byStatus.set(status, (counter.byStatus.get(status) ?? 0) + 1)
      if (status === TOO_MANY_REQUESTS) counter.rateLimited += 1
      counter.lastUsedAt = nowMs
    },
    flush,
    async close() {
      clearInterval(timer)
      const policy = { deadlineMs: CLOSE_DEADLINE_MS, activity: 'storing the usage of keys' }
      await oneAtATime(() => retryUntilDeadline(policy, saveChanges)).catch(onFailure)
    },
  }
}

const isChanged = ({ requests, savedRequests }: Counter) => requests !== savedRequests

function dayAt(nowMs: number): Day {
  const processId = randomUUID()
  return { name: dayOf(nowMs), endsAt: endOfDay(nowMs), processId, counters: new Map() }
}

function snapshot(counter: Counter, { name: day, processId }: Day): UsageCounters {
  const { keyId, accountId, requests, byStatus, rateLimited, lastUsedAt } = counter
  const statuses = Object.fromEntries(byStatus)
  const key = { day, keyId, accountId, processId }
  return { ...key, requests, byStatus: statuses, rateLimited, lastUsedAt }
}
