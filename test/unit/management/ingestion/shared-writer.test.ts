import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { ClockSkewError, TimestampsAheadError } from '../../../../src/indexing/writer/clock-skew.ts'
import { mapTransactions, type OrderIndex } from '../../../../src/indexing/writer/order-index.ts'
import { LeaseLostError, WatchRunningError } from '../../../../src/indexing/writer/writer-errors.ts'
import { interruptiblePause } from '../../../../src/lib/async/interruptible-pause.ts'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import { createDirectSink } from '../../../../src/management/ingestion/direct-sink.ts'
import type { OpenIndex } from '../../../../src/management/ingestion/shared-writer.ts'
import { parseSourceLines } from '../../../../src/management/ingestion/source-lines.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { createMemoryOrderIndex } from '../../../support/stores/memory-order-index.ts'

const NEVER_MS = 60_000

const linesOf = (...ids: readonly string[]) =>
  parseSourceLines(
    Buffer.from(JSON.stringify(ids.map((id) => sourceOrder({ id })))),
    'application/json',
  )

/** A sink on one index in memory, which only one writer at a time may open. */
function createSink({
  failures = [] as Error[],
  idleMs = NEVER_MS,
  maxAgeMs = NEVER_MS,
  deadlineMs = NEVER_MS,
  writerPollMs = 1,
} = {}) {
  const memory = createMemoryOrderIndex()
  let isOpen = false
  const events: string[] = []
  const openIndex: OpenIndex = async () => {
    events.push('open')
    if (isOpen) throw new Error('two writers at a time')
    isOpen = true
    return {
      ...failing(memory, failures),
      async close() {
        events.push('close')
        await pause(1)
        isOpen = false
      },
    }
  }
  const sink = createDirectSink({ openIndex, writerPollMs, idleMs, maxAgeMs, deadlineMs })
  return { memory, events, sink, isFree: () => !isOpen }
}

/** The same index, whose next commits fail. */
function failing(index: OrderIndex, failures: Error[]): OrderIndex {
  return mapTransactions(index, (transaction) => ({
    ...transaction,
    async commit(writes, mode) {
      const failure = failures.shift()
      if (failure !== undefined) throw failure
      return transaction.commit(writes, mode)
    },
  }))
}

it('concurrent and later calls share one writer', async () => {
  const { sink, events, memory } = createSink()
  const calls = ['ord_1', 'ord_2', 'ord_3'].map(async (id) => sink.store(await linesOf(id)))
  expect(await Promise.all(calls)).toEqual([['written'], ['written'], ['written']])
  expect(await sink.store(await linesOf('ord_1'))).toEqual(['older'])
  expect(events).toEqual(['open'])
  await sink.close()
  expect(events).toEqual(['open', 'close'])
  expect(memory.hasLiveWrites()).toBe(true)
})

it('another writer is admitted once no call arrives, and the next call becomes the writer again', async () => {
  const { sink, events } = createSink({ idleMs: 1 })
  await sink.store(await linesOf('ord_1'))
  await expect.poll(() => events).toEqual(['open', 'close'])
  expect(await sink.store(await linesOf('ord_2'))).toEqual(['written'])
  await sink.close()
  expect(events).toEqual(['open', 'close', 'open', 'close'])
})

it('calls without a break leave a waiting writer its turn', async () => {
  const writerPollMs = 40
  const { sink, events, isFree } = createSink({ maxAgeMs: 100, writerPollMs })
  const line = await linesOf('ord_1')
  await sink.store(line)
  const calls = Promise.all(
    [1, 2].map(async () => {
      for (const until = performance.now() + 1_000; performance.now() < until; await pause(5))
        await sink.store(line)
    }),
  )
  let turns = 0
  for (const until = performance.now() + 1_000; performance.now() < until; ) {
    if (isFree()) turns += 1
    await pause(writerPollMs)
  }
  await calls
  await sink.close()
  const tenures = events.filter((event) => event === 'open').length
  expect(tenures).toBeGreaterThan(2)
  expect(turns).toBeGreaterThanOrEqual(tenures - 1)
})

const clock = { nowMs: 0, name: 'the store' }
const failures: [what: string, failure: Error, code: string][] = [
  ['a lost lease', new LeaseLostError(), 'other_writer'],
  ['a running watch', new WatchRunningError(), 'other_writer'],
  ['a clock that is ahead', new ClockSkewError(9_000, clock, ''), 'clock'],
  ['timestamps ahead of the clock', new TimestampsAheadError(9_000, clock), 'clock'],
  ['a store that does not respond', new Unavailable('no response'), 'store'],
]
it.each(failures)(
  '%s fails the call, and the next call opens the index again',
  async (_what, failure, code) => {
    const { sink, events } = createSink({ failures: [failure] })
    const call = sink.store(await linesOf('ord_1'))
    await expect(call).rejects.toMatchObject({ code, message: failure.message })
    expect(await sink.store(await linesOf('ord_1'))).toEqual(['written'])
    expect(events).toEqual(['open', 'close', 'open'])
    await sink.close()
  },
)

it('a failure that is a fault stays one', async () => {
  const fault = new TypeError('a fault')
  const { sink } = createSink({ failures: [fault] })
  await expect(sink.store(await linesOf('ord_1'))).rejects.toBe(fault)
  await sink.close()
})

it('a call waits for another writer until its deadline; the wait continues for the next call', async () => {
  const admitted = Promise.withResolvers<void>()
  const memory = createMemoryOrderIndex()
  let opened = 0
  const sink = createDirectSink({
    async openIndex({ onDelay }) {
      opened += 1
      onDelay('waiting for another writer')
      await admitted.promise
      return memory
    },
    writerPollMs: 1,
    idleMs: NEVER_MS,
    deadlineMs: 50,
  })
  const call = async () => sink.store(await linesOf('ord_1'))
  await expect(call()).rejects.toMatchObject({ code: 'other_writer' })
  const next = call()
  admitted.resolve()
  expect(await next).toEqual(['written'])
  expect(opened).toBe(1)
  await sink.close()
})

it('the deadline of a call ends the retries of a store that does not respond', async () => {
  const memory = createMemoryOrderIndex()
  const sink = createDirectSink({
    openIndex: async ({ signal }) =>
      mapTransactions(memory, (transaction) => ({
        ...transaction,
        async commit() {
          await interruptiblePause(NEVER_MS, signal, 'OpenSearch was unavailable for writes')
          return false
        },
      })),
    writerPollMs: 1,
    deadlineMs: 20,
  })
  await expect(sink.store(await linesOf('ord_1'))).rejects.toMatchObject({ code: 'store' })
  await sink.close()
})

it('a close ends a wait for another writer', async () => {
  const sink = createDirectSink({
    async openIndex({ signal }) {
      await interruptiblePause(NEVER_MS, signal, 'another writer was at work')
      throw new Error('not reached')
    },
    writerPollMs: 1,
    deadlineMs: 1,
  })
  await expect(sink.store(await linesOf('ord_1'))).rejects.toMatchObject({ code: 'store' })
  await sink.close()
})
