import { expect, it } from 'vitest'
import type { BulkWrites } from '../../../../../src/indexing/writer/order-index.ts'
import { createCommitter } from '../../../../../src/stores/opensearch/write/committer.ts'
import { createOptimisticConcurrency } from '../../../../../src/stores/opensearch/write/optimistic-concurrency.ts'
import { versionRecord } from '../../../../support/orders/version-record.ts'

const record = versionRecord()
const writes: BulkWrites = {
  views: [],
  removals: [{ accountId: 'acc_1', orderId: 'ord_1' }],
  eventRecords: [],
  versionRecords: [record],
}

const LAST_WRITE_TIMESTAMP = 7

/** A committer whose known states are full from the start. */
function start() {
  const events: string[] = []
  const sent: unknown[] = []
  const { promise: recordsSent, resolve: endRecords } = Promise.withResolvers<void>()
  let isFull = false
  let fullChecks = 0
  const committer = createCommitter({
    lease: {
      hasPendingTargets: () => false,
      lastWriteTimestamp: () => LAST_WRITE_TIMESTAMP,
      recordLiveWrites: async () => {},
      fence: async () => void events.push('fence'),
    },
    written: {
      isFull: () => {
        fullChecks++
        return isFull
      },
      clear: () => {
        events.push('forget')
        isFull = false
      },
    },
    async send(target, items) {
      if (items.length === 0) return
      events.push(target)
      if (target === 'orders') return
      sent.push(...items.map(({ source }) => JSON.parse(source?.(0) ?? '')))
      await recordsSent
      events.push('records sent')
    },
  })
  const commit = async (changes: Partial<BulkWrites> = {}) =>
    committer.commit(
      { ...writes, ...changes },
      createOptimisticConcurrency(),
      await committer.fenceBeforeReads(),
      'live',
    )
  const fill = () => {
    isFull = true
  }
  return { commit, events, sent, endRecords, fill, fullChecks: () => fullChecks }
}

it('full states are forgotten by a fence, once the bulks of records in flight have ended', async () => {
  const { commit, events, endRecords, fill, fullChecks } = start()
  const first = commit()
  await expect.poll(() => events).toEqual(['orders', 'versionRecords'])
  fill()
  const second = commit()
  await expect.poll(() => fullChecks()).toBeGreaterThan(1)
  endRecords()
  expect(await first).toBe(true)
  expect(await second).toBe(false) // It was read before the fence.
  expect(await commit()).toBe(true)
  const written = ['orders', 'versionRecords', 'records sent']
  // Not after the fence, which lets writes of the new epoch through.
  expect(events).toEqual([...written, 'forget', 'fence', ...written])
})

it('a version record has the last write timestamp, and keeps its own if it writes no documents', async () => {
  const { commit, sent, endRecords } = start()
  endRecords()
  await commit({ versionRecords: [record, { ...record, writtenKey: 3 }] })
  expect(sent).toMatchObject([{ written: LAST_WRITE_TIMESTAMP }, { written: 3 }])
})
