import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { writeNextBatch } from '../../../../src/indexing/sources/watch-batch.ts'
import { sourceOrder } from '../../../support/source-order.ts'
import { createMemoryChangeStream } from './memory-change-stream.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** What is told of a store that takes one order after so long. */
async function toldOf(tookMs: number): Promise<string[]> {
  const told: string[] = []
  const stream = createMemoryChangeStream()
  stream.add(JSON.stringify(sourceOrder()))
  const writing = writeNextBatch({
    stream,
    index: { lastWrite: () => null },
    writer: {
      async write() {
        await new Promise((resolve) => setTimeout(resolve, tookMs))
        return ['written']
      },
    },
    monotonic: () => 0,
    events: { onRefused() {}, onLost() {}, onBatch: () => told.push('done'), onWritten() {} },
    onSlow: (reason) => told.push(reason),
  })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await writing).toBe(1)
  return told
}

it('says once that a store is slow, and waits on', async () => {
  expect(await toldOf(50_000)).toEqual([
    'the store has not taken a batch for 10 s; still trying',
    'done',
  ])
})

it('says nothing of a store that took the batch in less', async () => {
  expect(await toldOf(9_999)).toEqual(['done'])
})
