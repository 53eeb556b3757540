import { expect, onTestFinished, vi } from 'vitest'
import { type WatchEvents, watch } from '../../../../src/indexing/sources/watch.ts'
import type { LastWrite, OrderIndex } from '../../../../src/indexing/writing/order-index.ts'
import { createMemoryOrderIndex, type MemoryOrderIndex } from '../writing/memory-order-index.ts'
import { createMemoryChangeStream, type MemoryChangeStream } from './memory-change-stream.ts'

type OpenOptions = Parameters<Parameters<typeof watch>[0]['openIndex']>[0]

/** A watch on a stream and an index in memory. */
export interface Watching {
  stream: MemoryChangeStream
  index: MemoryOrderIndex
  /** What was told, in order. */
  told: string[]
  lags: [LastWrite, readonly number[]][]
  /** What opening the index does, each time; it opens when there is no more. */
  openings: ((options: OpenOptions) => Promise<void>)[]
  /** Thrown by bulks, one each, before anything is written. */
  failures: Error[]
  /** Says why nothing is written, as a store does. */
  delay(reason: string): void
  nowMs: number
  begin(): void
  stop(): void
  /** The end, or what ended it. */
  ended(): Promise<unknown>
  /** Waits until everything is acknowledged and the stream was found empty. */
  settled(): Promise<void>
}

export function createWatching(): Watching {
  const stream = createMemoryChangeStream()
  const index = createMemoryOrderIndex()
  const stopping = new AbortController()
  let ending: Promise<unknown> = Promise.resolve()
  let lastWrite: LastWrite | null = null
  let say: (reason: string) => void = () => {}

  const opened: OrderIndex = {
    async bulk(decide) {
      const failure = watching.failures.shift()
      if (failure !== undefined) throw failure
      await index.bulk(async (stored) => {
        const writes = await decide(stored)
        const last = writes.views.at(-1)
        if (last !== undefined) {
          lastWrite = { accountId: last.accountId, stamp: index.stamp + 1000 }
          stream.happened.push(...writes.views.map(({ orderId }) => `write ${orderId}`))
        }
        return writes
      })
    },
    wasStampedLive: () => true,
    lastWrite: () => lastWrite,
    now: index.now,
    async close() {
      watching.told.push('closed')
    },
  }
  const { told, lags, events } = recorder()

  const watching: Watching = {
    stream,
    index,
    told,
    lags,
    openings: [],
    failures: [],
    delay: (reason) => say(reason),
    nowMs: 50_000,
    begin() {
      ending = watch({
        async openIndex(options) {
          await watching.openings.shift()?.(options)
          say = options.onDelay
          return opened
        },
        stream,
        clock: () => Date.parse('2026-04-01T00:00:00Z'),
        monotonic: () => watching.nowMs,
        signal: stopping.signal,
        events,
      }).catch((error: unknown) => error)
    },
    stop: () => stopping.abort(),
    ended: () => ending,
    settled: () => vi.waitFor(() => expect(stream.waiting()).toEqual([]), { interval: 2 }),
  }
  onTestFinished(async () => {
    watching.stop()
    await watching.ended()
  })
  return watching
}

function recorder() {
  const told: string[] = []
  const lags: [LastWrite, readonly number[]][] = []
  const events: WatchEvents = {
    onStandby: (reason) => told.push(`stands by: ${reason}`),
    onWriter: (isWriter) => told.push(isWriter ? 'writer' : 'no writer'),
    onLeaseLost: () => told.push('lease lost'),
    onOutage: (reason) => told.push(`outage: ${reason}`),
    onRecovered: () => told.push('recovered'),
    onRefused: (id, { path, reason }) => told.push(`refused ${id} ${path}: ${reason}`),
    onLost: (ids) => told.push(`lost ${ids.join(',')}`),
    onBatch: (counts) =>
      told.push(
        Object.entries(counts)
          .filter(([, count]) => count > 0)
          .map(([name, count]) => `${name} ${count}`)
          .join(', '),
      ),
    onWritten: (last, enteredAtMs) => lags.push([last, enteredAtMs]),
  }
  return { told, lags, events }
}
