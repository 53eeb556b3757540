import { expect, it } from 'vitest'
import {
  type ChangeWriteTargetsOptions,
  changeWriteTargets,
  type WriteTargets,
} from '../../../../../src/stores/opensearch/reindex/change-write-targets.ts'
import {
  createMemoryLeaseDocument,
  createMemoryStoreClock,
  createRecordingFence,
  LONG_LEASE_MS,
  leaseRecord,
  type MemoryLeaseDocument,
} from '../write/lease/memory-lease.ts'

const NOW = 10_000
const RECORDS = ['order-heads-v1']
const FROM: WriteTargets = { orders: ['orders-v1'], versionRecords: RECORDS }
const TO: WriteTargets = { orders: ['orders-v1', 'orders-v2'], versionRecords: RECORDS }

const change = (document: MemoryLeaseDocument, changes: Partial<ChangeWriteTargetsOptions> = {}) =>
  changeWriteTargets(
    {
      document,
      fence: createRecordingFence(),
      leaseMs: LONG_LEASE_MS,
      clock: () => NOW,
      storeClock: createMemoryStoreClock(NOW),
      versionRecordIndex: async () => 'order-heads-v1',
      maxWriteTimestamp: async () => 0,
      onDelay() {},
      ...changes,
    },
    FROM,
    TO,
  )

it('a request without an active writer is applied by a lease of the reindex itself', async () => {
  const document = createMemoryLeaseDocument(leaseRecord({ released: true }))
  expect(await change(document)).toBe(8)
  expect(document.record()).toMatchObject({ fed: TO.orders, purpose: 'reindex', released: true })
})

it('a request is applied again when a writer takes over at once and dies', async () => {
  const document = createMemoryLeaseDocument(leaseRecord({ released: true }))
  const { replace } = document
  document.replace = async (known, record) => {
    const replaced = await replace(known, record)
    if (record.purpose === 'reindex' && record.released) {
      document.replace = replace
      document.put(leaseRecord({ ...record, ...DYING, epoch: record.epoch + 1 }))
    }
    return replaced
  }
  expect(await change(document)).toBe(10)
})

it('the wait for an active writer is reported again once a minute', async () => {
  const document = createMemoryLeaseDocument(leaseRecord())
  const reportedAt: number[] = []
  let nowMs = 0
  const epoch = await change(document, {
    waitClock: () => nowMs,
    onDelay(reason) {
      expect(reason).toBe(
        'waiting for the writer (the writer before) to write to orders-v1, orders-v2, order-heads-v1',
      )
      reportedAt.push(nowMs)
    },
    document: {
      ...document,
      async read() {
        nowMs += 10_000
        const requested = document.record()
        if (reportedAt.length === 3 && requested)
          document.put({ ...requested, fed: requested.targets })
        return document.read()
      },
    },
  })
  expect(epoch).toBe(7)
  const gaps = reportedAt.slice(1).map((at, n) => at - (reportedAt[n] ?? 0))
  for (const gap of gaps) expect(gap).toBeGreaterThan(60_000)
  expect(gaps).toHaveLength(2)
})

const DYING = {
  holder: 'a dying writer',
  purpose: 'load',
  released: false,
  lease_ms: 20,
  fed: [],
} as const
