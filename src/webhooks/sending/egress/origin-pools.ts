import { type Dispatcher, Pool } from 'undici'
import type { Clock } from '../../../lib/clock.ts'

/** Dispatches requests, each to the `origin` in its options. */
export interface OriginDispatcher {
  dispatch(
    request: Dispatcher.DispatchOptions & { origin: string },
    handler: Dispatcher.DispatchHandler,
  ): boolean
  /** Waits for the requests in flight. */
  close(): Promise<void>
  /** Ends the requests in flight. */
  destroy(): Promise<void>
}

export interface OriginPools extends OriginDispatcher {
  /** The number of pools that accept requests. */
  readonly size: number
}

export interface OriginPoolsOptions {
  /** At the limit, a new pool closes the oldest idle one. */
  maxPools: number
  /** Older pools are replaced, so that a change of DNS takes effect. */
  ttlMs: number
  /** Milliseconds. */
  monotonic: Clock
  pool: Pool.Options
}

interface Entry {
  pool: Pool
  openedAt: number
}

/** One connection pool per origin, which exists only while it has requests or open connections. */
export function createOriginPools(options: OriginPoolsOptions): OriginPools {
  const { maxPools, ttlMs, monotonic } = options
  /** The oldest first. */
  const entries = new Map<string, Entry>()
  /** Pools that finish their requests. */
  const closing = new Map<Pool, Promise<void>>()

  function poolOf(origin: string): Pool {
    const now = monotonic()
    const entry = entries.get(origin)
    if (entry !== undefined && now - entry.openedAt < ttlMs) return entry.pool
    if (entry !== undefined) retire(origin, entry)
    if (entries.size >= maxPools) retireIdle()
    return open(origin, now)
  }

  function open(origin: string, openedAt: number): Pool {
    const pool = new Pool(origin, options.pool)
    const entry = { pool, openedAt }
    entries.set(origin, entry)
    const retireIfUnused = () => {
      const { connected, size } = pool.stats
      if (connected === 0 && size === 0) retire(origin, entry)
    }
    pool.on('disconnect', retireIfUnused)
    pool.on('connectionError', retireIfUnused)
    return pool
  }

  function retireIdle(): void {
    for (const [origin, entry] of entries) {
      if (entry.pool.stats.size === 0) {
        retire(origin, entry)
        return
      }
    }
  }

  function retire(origin: string, entry: Entry): void {
    if (entries.get(origin) !== entry) return
    entries.delete(origin)
    const { pool } = entry
    const closed = pool.close().finally(() => closing.delete(pool))
    closing.set(pool, closed)
  }

  function retireAll(): void {
    for (const [origin, entry] of entries) retire(origin, entry)
  }

  return {
    dispatch: (request, handler) => poolOf(request.origin).dispatch(request, handler),
    async close() {
      retireAll()
      await Promise.all(closing.values())
    },
    async destroy() {
      retireAll()
      await Promise.all([...closing.keys()].map((pool) => pool.destroy()))
    },
    get size() {
      return entries.size
    },
  }
}
