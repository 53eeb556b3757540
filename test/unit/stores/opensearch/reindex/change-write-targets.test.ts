import { expect, it } from 'vitest'
import {
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

const change = (document: MemoryLeaseDocument) =>
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

const DYING = {
  holder: 'a dying writer',
  purpose: 'load',
  released: false,
  lease_ms: 20,
  fed: [],
} as const
