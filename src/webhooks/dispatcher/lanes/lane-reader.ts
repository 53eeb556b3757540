import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../../lib/clock.ts'
import type { DeliveryStore } from '../../deliveries/delivery-store.ts'
import type { CallSource } from '../outage.ts'
import { FAILING_WINDOW_MS, MAX_FAILING_ORDERS } from './failing-orders.ts'
import { type Lane, pageSize, wantsRead } from './lane.ts'
import { type BufferUse, isFull } from './lane-buffer.ts'
import type { QueueRead } from './queue-read.ts'

/** Fills the queues of lanes from the store. */
export interface LaneReader {
  /** Reads a lane when it is its turn, if it still wants that. */
  request(lane: Lane): void
  /** Continues with lanes that waited for memory. */
  poke(): void
  /** Waits for the reads in progress, and starts no other. */
  stop(): Promise<void>
}

export interface LaneReaderOptions {
  deliveries: Pick<DeliveryStore, 'due' | 'failingSince' | 'nextDueAt'>
  /** Epoch milliseconds, as the instants of deliveries. Never steps back. */
  clock: Clock
  monotonic: Clock
  bufferUse: BufferUse
  /** Called after a read, also a failed one. */
  onRead(lane: Lane): void
  source: CallSource
}

/** Lanes that are read at the same time. */
const PARALLEL_READS = 8

/** Creates a reader that serves lanes in the order of their requests. */
export function createLaneReader(options: LaneReaderOptions): LaneReader {
  const { deliveries, clock, monotonic, bufferUse, source } = options
  const waiting = new Set<Lane>()
  const readers = new Set<Promise<void>>()
  let isStopped = false

  async function readWaiting(): Promise<void> {
    for (;;) {
      const lane = nextLane()
      if (lane === undefined) return
      waiting.delete(lane)
      if (!wantsRead(lane, monotonic())) continue
      lane.isReadPending = true
      await readLane(lane).then(source.succeed, source.fail)
      lane.isReadPending = false
      options.onRead(lane)
      // The embedded store never yields, and the process has other work.
      await setImmediate()
    }
  }

  /** At the limit of memory, lanes that have something to send wait. */
  function nextLane(): Lane | undefined {
    if (isStopped) return
    const mayRead = isFull(bufferUse) ? ({ queue }: Lane) => !queue.hasReady() : () => true
    for (const lane of waiting) if (mayRead(lane)) return lane
    return
  }

  async function readLane(lane: Lane): Promise<void> {
    const read = lane.queue.beginRead()
    const isComplete = await readDue(lane, read).catch((error) => {
      read.end()
      throw error
    })
    if (!isComplete) read.end()
  }

  async function readDue(lane: Lane, read: QueueRead): Promise<boolean> {
    const { endpointId } = lane
    const nowMs = clock()
    if (read.needsFailing) {
      const sinceMs = nowMs - FAILING_WINDOW_MS
      const rows = await deliveries.failingSince(endpointId, sinceMs, MAX_FAILING_ORDERS)
      read.addFailing(rows, nowMs)
    }
    const limit = pageSize(lane, isFull(bufferUse))
    const due = await deliveries.due({ endpointId, nowMs, limit, ...read.exclusions() })
    read.addDue(due)
    if (due.length >= limit) return false
    read.complete(await deliveries.nextDueAt(endpointId), nowMs)
    return true
  }

  function poke(): void {
    if (waiting.size === 0 || readers.size >= PARALLEL_READS) return
    const reader = readWaiting().finally(() => readers.delete(reader))
    readers.add(reader)
  }

  return {
    request(lane) {
      waiting.add(lane)
      poke()
    },
    poke,
    async stop() {
      isStopped = true
      waiting.clear()
      await Promise.all(readers)
    },
  }
}
