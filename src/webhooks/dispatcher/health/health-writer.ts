import type { Endpoint } from '../../endpoints/endpoint.ts'
import { type EndpointHealth, healthOf } from '../../endpoints/endpoint-health.ts'
import type { EndpointStore } from '../../endpoints/endpoint-store.ts'
import type { Lane } from '../lanes/lane.ts'

/** Writes the health of endpoints. */
export interface HealthWriter {
  /** Replaces the health of a lane, and writes it with the next {@link flush}. */
  set(lane: Lane, health: EndpointHealth): void
  /** Whether the stored health is older than that of the lane. */
  isStale(lane: Lane): boolean
  /** Writes what changed. @throws Unavailable; the next call continues */
  flush(): Promise<void>
}

/** Endpoints that are written at the same time. */
const PARALLEL_UPDATES = 16

/** Creates a writer. An endpoint that changes during its write is written again. */
export function createHealthWriter(endpoints: Pick<EndpointStore, 'update'>): HealthWriter {
  /** Each with the health that was stored before its changes. */
  const stale = new Map<Lane, EndpointHealth>()
  const writing = new Set<Lane>()

  async function write([lane, stored]: [Lane, EndpointHealth]): Promise<void> {
    const { health } = lane
    let written = health
    writing.add(lane)
    stale.delete(lane)
    try {
      await endpoints.update(lane.endpointId, (endpoint) => {
        if (endpoint.disabledReason !== null) return null
        written = isCleared(endpoint, health, stored) ? healthOf(endpoint) : health
        return written === health ? { ...endpoint, ...health } : null
      })
      if (lane.health === health) lane.health = written
    } catch (error) {
      stale.set(lane, stored)
      throw error
    } finally {
      writing.delete(lane)
    }
  }

  return {
    set(lane, health) {
      if (lane.health === health) return
      if (!stale.has(lane)) stale.set(lane, lane.health)
      lane.health = health
    },
    isStale: (lane) => stale.has(lane) || writing.has(lane),
    async flush() {
      while (stale.size > 0) {
        const lanes = [...stale].filter(([lane]) => !writing.has(lane)).slice(0, PARALLEL_UPDATES)
        if (lanes.length === 0) return
        const written = await Promise.allSettled(lanes.map(write))
        for (const result of written) if (result.status === 'rejected') throw result.reason
      }
    },
  }
}

/** Whether a command has cleared the failure of `health`, such as one that enables the endpoint. */
function isCleared(endpoint: Endpoint, health: EndpointHealth, stored: EndpointHealth): boolean {
  const { failingSince } = health
  if (failingSince === null || endpoint.failingSince !== null) return false
  return failingSince === stored.failingSince
}
