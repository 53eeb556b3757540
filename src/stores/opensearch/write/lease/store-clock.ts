import { nextWriteTimestamp } from '../../../../indexing/writer/clock-skew.ts'
import { type Clock, monotonicClock } from '../../../../lib/clock.ts'
import { Unavailable } from '../../../../lib/errors/unavailable.ts'
import { type OpenSearch, read } from '../../client/client.ts'

/** The cluster's clock, epoch milliseconds; limits how far a writer's clock may be ahead. */
export interface StoreClock {
  /** The last reading plus the monotonic time since; no request. `-Infinity` before the first. */
  now: Clock
  /** @throws Unavailable; Error when OpenSearch rejects the request */
  read(): Promise<number>
}

/** The wait for a node that does not respond. It makes the reading inaccurate by half as much. */
const NODE_TIMEOUT_MS = 1_000

/**
 * The median clock of all responding nodes; of two nodes, the earlier. One node with a fast clock
 * cannot approve a fast writer on the same machine. Among three nodes, a slow one cannot block a
 * correct writer. The error is at most half the duration of the request.
 */
export function createStoreClock(client: OpenSearch, deadlineMs: number): StoreClock {
  let aheadOfMonotonic = -Infinity

  return {
    now: () => aheadOfMonotonic + monotonicClock(),
    async read() {
      const sentAt = monotonicClock()
      // Every statistic has the node's time, and this one is cheap. `timeout` omits frozen nodes.
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
      if (time === undefined) throw new Unavailable('no node of OpenSearch returned its time')
      aheadOfMonotonic = time - (sentAt + receivedAt) / 2
      return aheadOfMonotonic + receivedAt
    },
  }
}

interface NodeStats {
  nodes?: Record<string, { timestamp?: unknown }>
}

/**
 * The write timestamp after `lastWriteTimestamp`, limited by the clock of OpenSearch.
 * @throws an error of `clock-skew.ts`
 */
export function writeTimestampAt(
  clockMs: number,
  storeMs: number,
  lastWriteTimestamp: number,
): number {
  const store = { nowMs: storeMs, name: 'the clock of OpenSearch' }
  return nextWriteTimestamp(store, clockMs, lastWriteTimestamp, REMEDY)
}

const REMEDY = 'Set the clock of the machine right (NTP), then start again'
