import { type Clock, monotonicClock } from '../../../lib/clock.ts'
import { Unavailable } from '../../../lib/unavailable.ts'
import { type OpenSearch, read } from '../client/client.ts'

/** The clock of the cluster, which a writer's own is held against. Epoch milliseconds. */
export interface StoreClock {
  /** By the last reading and the monotonic time since then; nothing is asked. `-Infinity` before the first. */
  now: Clock
  /** @throws Unavailable; Error when OpenSearch refuses */
  read(): Promise<number>
}

/** How long a node that does not answer is waited for: the reading is off by half of it then. */
const NODE_TIMEOUT_MS = 1_000

/**
 * Reads the clocks of all nodes that answer, off by at most half the time that takes, and takes the one in
 * the middle; of two the earlier. So one node whose clock is wrong neither lets a writer on the same machine
 * stamp ahead nor, among three, stops a right one.
 */
export function createStoreClock(client: OpenSearch, deadlineMs: number): StoreClock {
  let aheadOfMonotonic = -Infinity

  return {
    now: () => aheadOfMonotonic + monotonicClock(),
    async read() {
      const sentAt = monotonicClock()
      // Any statistics carry the node's time; these cost a node nothing. One that is frozen is left out.
      const timeout = `${Math.min(Math.ceil(deadlineMs / 2), NODE_TIMEOUT_MS)}ms`
      const request = { metric: 'breaker', timeout, filter_path: ['nodes.*.timestamp'] }
      const { nodes = {} } = (await read(deadlineMs, (options) =>
        client.nodes.stats(request as object, options),
      )) as NodeStats
      const receivedAt = monotonicClock()
      const times = Object.values(nodes)
        .flatMap(({ timestamp }) => (typeof timestamp === 'number' ? [timestamp] : []))
        .sort((one, other) => one - other)
      const time = times[Math.floor((times.length - 1) / 2)]
      if (time === undefined) throw new Unavailable('no node of OpenSearch told its time')
      aheadOfMonotonic = time - (sentAt + receivedAt) / 2
      return aheadOfMonotonic + receivedAt
    },
  }
}

interface NodeStats {
  nodes?: Record<string, { timestamp?: unknown }>
}
