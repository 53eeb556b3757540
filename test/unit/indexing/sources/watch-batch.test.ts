import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createReportedEntries } from '../../../../src/indexing/sources/reported-entries.ts'
import {
  type ProcessBatchOptions,
  processNextBatch,
} from '../../../../src/indexing/sources/watch-batch.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { createMemoryChangeStream } from './memory-change-stream.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function optionsWith(given: Partial<ProcessBatchOptions>): ProcessBatchOptions {
  return {
    stream: createMemoryChangeStream(),
    index: { lastWrite: () => null },
    writer: { write: async (changes) => changes.map(() => 'written') },
    reported: createReportedEntries(),
    monotonic: () => 0,
    events: { onRejected() {}, onLost() {}, onBatch() {}, onWritten() {} },
    onSlow() {},
    ...given,
  }
}

/** The reports about a store that accepts an order after this delay. */
async function delaysOf(tookMs: number): Promise<string[]> {
  const delays: string[] = []
  const stream = createMemoryChangeStream()
  stream.add(JSON.stringify(sourceOrder()))
  const events = { ...optionsWith({}).events, onBatch: () => delays.push('done') }
  const writer = {
    async write() {
      await new Promise((resolve) => setTimeout(resolve, tookMs))
      return ['written' as const]
    },
  }
  const onSlow = (reason: string) => delays.push(reason)
  const writing = processNextBatch(optionsWith({ stream, writer, events, onSlow }))
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await writing).toBe(1)
  return delays
}

it('the watch reports a slow store once and keeps waiting', async () => {
  expect(await delaysOf(50_000)).toEqual([
    'the store has not accepted a batch for 10 s; retrying',
    'done',
  ])
})

it('the watch does not report a store that accepts the batch in time', async () => {
  expect(await delaysOf(9_999)).toEqual(['done'])
})

it('the watch remembers no entry after its acknowledgement or its dead letter', async () => {
  const stream = createMemoryChangeStream()
  stream.add(JSON.stringify(sourceOrder()))
  stream.add('{')
  const { entries } = await stream.read()
  const reported = createReportedEntries()
  await processNextBatch(optionsWith({ stream, reported }))
  const again = entries.map((entry) => ({ entry, result: 'older' as const }))
  expect(reported.firstResults(again)).toEqual(again)
})

it('the watch remembers no entry once the stream returns nothing', async () => {
  const reported = createReportedEntries()
  const lost = [{ id: '1', count: 1 }]
  reported.firstLost(lost)
  const reading = processNextBatch(optionsWith({ reported }))
  await vi.advanceTimersByTimeAsync(10)
  await reading
  expect(reported.firstLost(lost)).toEqual(lost)
})
