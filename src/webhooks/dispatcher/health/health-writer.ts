import type { EndpointStore } from '../../endpoints/endpoint.ts'
import type { EndpointHealth } from '../../endpoints/endpoint-health.ts'
import type { Lane } from '../lanes/lane.ts'

/** Writes the health of endpoints. */
export interface HealthWriter {
  /** Replaces the health of a lane, and writes it with the next {@link flush}. */
  set(lane: Lane, health: EndpointHealth): void
  /** Whether the stored health is older than that of the lane. */
  isStale(lane: Lane): boolean
  /** Throws Unavailable; the next call continues. */
  flush(): Promise<void>
}

/** Endpoints that are written at the same time. */
const PARALLEL_UPDATES = 16

/** Creates a writer. An endpoint that changes during its write is written again. */
export function createHealthWriter(endpoints: Pick<EndpointStore, 'update'>): HealthWriter {
  const stale = new Set<Lane>()
  const writing = new Map<Lane, EndpointHealth>()

  async function write(lane: Lane): Promise<void> {
    const { health } = lane
    writing.set(lane, health)
    stale.delete(lane)
    try {
      await endpoints.update(lane.endpointId, (endpoint) =>
        endpoint.disabledReason === null ? { ...endpoint, ...health } : null,
      )
    } catch (error) {
      stale.add(lane)
      throw error
    } finally {
      writing.delete(lane)
    }
  }

  return {
    set(lane, health) {
      if (lane.health === health) return
      lane.health = health
      stale.add(lane)
    },
    isStale: (lane) => stale.has(lane) || writing.has(lane),
    async flush() {
      while (stale.size > 0) {
        const lanes = [...stale].filter((lane) => !writing.has(lane)).slice(0, PARALLEL_UPDATES)
        if (lanes.length === 0) return
        const written = await Promise.allSettled(lanes.map(write))
        for (const result of written) if (result.status === 'rejected') throw result.reason
      }
    },
  }
}
