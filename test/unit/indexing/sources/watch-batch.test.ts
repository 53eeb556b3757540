import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createReportedEntries } from '../../../../src/indexing/sources/reported-entries.ts'
import { processNextBatch } from '../../../../src/indexing/sources/watch-batch.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { createMemoryChangeStream } from './memory-change-stream.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** The reports about a store that accepts an order after this delay. */
async function delaysOf(tookMs: number): Promise<string[]> {
  const delays: string[] = []
  const stream = createMemoryChangeStream()
  stream.add(JSON.stringify(sourceOrder()))
  const writing = processNextBatch({
    stream,
    index: { lastWrite: () => null },
    writer: {
      async write() {
        await new Promise((resolve) => setTimeout(resolve, tookMs))
        return ['written']
      },
    },
    reported: createReportedEntries(),
    monotonic: () => 0,
    events: { onRejected() {}, onLost() {}, onBatch: () => delays.push('done'), onWritten() {} },
    onSlow: (reason) => delays.push(reason),
  })
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
