import { expect, onTestFinished } from 'vitest'
import { type WatchEvents, watch } from '../../../../src/indexing/sources/watch.ts'
import type { LastWrite, OrderIndex } from '../../../../src/indexing/writer/order-index.ts'
import { interceptCommits } from '../../../support/stores/bulk.ts'
import {
  createMemoryOrderIndex,
  type MemoryOrderIndex,
} from '../../../support/stores/memory-order-index.ts'
import { createMemoryChangeStream, type MemoryChangeStream } from './memory-change-stream.ts'

type OpenOptions = Parameters<Parameters<typeof watch>[0]['openIndex']>[0]

/** A watch on a stream and an index in memory. */
export interface WatchSimulation {
  stream: MemoryChangeStream
  index: MemoryOrderIndex
  /** The reports of the watch, in sequence. */
  log: string[]
  lags: [LastWrite, readonly number[]][]
  /** The behaviours of the next calls that open the index; it opens when none is left. */
  openings: ((options: OpenOptions) => Promise<void>)[]
  /** Errors of the next bulks, thrown before anything is written. */
  failures: Error[]
  /** Reports the reason of a delay, as a store does. */
  delay(reason: string): void
  nowMs: number
  begin(): void
  stop(): void
  /** Resolves at the end, with the error that ended the watch, if any. */
  ended(): Promise<unknown>
  /** Waits until every entry is acknowledged and the stream is empty. */
  settled(): Promise<void>
}

export function createWatchSimulation(): WatchSimulation {
  const stream = createMemoryChangeStream()
  const index = createMemoryOrderIndex()
  const stopping = new AbortController()
  let ending: Promise<unknown> = Promise.resolve()
  let lastWrite: LastWrite | null = null
  let reportDelay: (reason: string) => void = () => {}

  const intercepted = interceptCommits(index, (writes) => {
    const last = writes.views.at(-1)
    if (last !== undefined) {
      lastWrite = { accountId: last.accountId, writeTimestamp: index.lastWriteTimestamp + 1000 }
      stream.operations.push(...writes.views.map(({ orderId }) => `write ${orderId}`))
    }
    return writes
  })
  const opened: OrderIndex = {
    async lock(orderIds) {
      const failure = watching.failures.shift()
      if (failure !== undefined) throw failure
      return intercepted.lock(orderIds)
    },
    hasLiveWrites: () => true,
    async refresh() {},
    lastWrite: () => lastWrite,
    now: () => index.now(),
    async close() {
      watching.log.push('closed')
    },
  }
  const { log, lags, events } = recorder()

  const watching: WatchSimulation = {
    stream,
    index,
    log,
    lags,
    openings: [],
    failures: [],
    delay: (reason) => reportDelay(reason),
    nowMs: 50_000,
    begin() {
      ending = watch({
        async openIndex(options) {
          await watching.openings.shift()?.(options)
          reportDelay = options.onDelay
          return opened
        },
        stream,
        monotonic: () => watching.nowMs,
        signal: stopping.signal,
        events,
      }).catch((error: unknown) => error)
    },
    stop: () => stopping.abort(),
    ended: () => ending,
    settled: () => expect.poll(stream.waiting, { interval: 2 }).toEqual([]),
  }
  onTestFinished(async () => {
    watching.stop()
    await watching.ended()
  })
  return watching
}

function recorder() {
  const log: string[] = []
  const lags: [LastWrite, readonly number[]][] = []
  const events: WatchEvents = {
    onStandby: (reason) => log.push(`stands by: ${reason}`),
    onWriter: (isWriter) => log.push(isWriter ? 'writer' : 'no writer'),
    onLeaseLost: () => log.push('lease lost'),
    onOutage: (reason) => log.push(`outage: ${reason}`),
    onRecovered: () => log.push('recovered'),
    onRejected: (id, { path, reason }) => log.push(`rejected ${id} ${path}: ${reason}`),
    onLost: (entries) => log.push(`lost ${entries.map(({ id }) => id).join(',')}`),
    onBatch: (counts) =>
      log.push(
        Object.entries(counts)
          .filter(([, count]) => count > 0)
          .map(([name, count]) => `${name} ${count}`)
          .join(', '),
      ),
    onWritten: (last, enteredAtMs) => lags.push([last, enteredAtMs]),
  }
  return { log, lags, events }
}
