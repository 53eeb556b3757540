import { beforeEach, describe, expect, it } from 'vitest'
import {
  createOptimisticConcurrency,
  type OptimisticConcurrency,
} from '../../../../../src/stores/opensearch/write/optimistic-concurrency.ts'

const SEEN = { if_seq_no: 0, if_primary_term: 2 }
const WRITE_TIMESTAMP = 7
const ADDRESS = { _id: 'acc_1:ord_1', routing: 'acc_1' }
const TOMBSTONE = JSON.stringify({ removed_key: WRITE_TIMESTAMP })

let states: OptimisticConcurrency
beforeEach(() => {
  states = createOptimisticConcurrency()
})

describe('the bulk action that writes a document', () => {
  it('the index action names the last known state', () => {
    states.recordState('orders', ADDRESS._id, SEEN)
    expect(states.indexAction('orders', ADDRESS, WRITE_TIMESTAMP)).toBe(
      `${JSON.stringify({ index: { ...ADDRESS, ...SEEN } })}\n`,
    )
  })

  it('the index action creates a document of unknown or absent state', () => {
    const version = { version: WRITE_TIMESTAMP, version_type: 'external' }
    const line = `${JSON.stringify({ index: { ...ADDRESS, ...version } })}\n`
    expect(states.indexAction('orders', ADDRESS, WRITE_TIMESTAMP)).toBe(line)
    states.recordState('orders', ADDRESS._id, SEEN)
    states.recordState('orders', ADDRESS._id, null)
    expect(states.indexAction('orders', ADDRESS, WRITE_TIMESTAMP)).toBe(line)
  })

  it('the index action creates a version record that does not exist', () => {
    const line = `${JSON.stringify({ create: { _id: 'ord_1' } })}\n`
    expect(states.indexAction('versionRecords', { _id: 'ord_1' }, 0)).toBe(line)
  })

  it('the index action distinguishes a version record from a document with the same id', () => {
    states.recordState('versionRecords', ADDRESS._id, SEEN)
    expect(states.indexAction('orders', ADDRESS, WRITE_TIMESTAMP)).toContain('"external"')
  })
})

describe('the bulk action that writes a tombstone', () => {
  it('the tombstone action names the last known state', () => {
    states.recordState('orders', ADDRESS._id, SEEN)
    expect(states.tombstoneAction(ADDRESS, WRITE_TIMESTAMP)).toBe(
      `${JSON.stringify({ index: { ...ADDRESS, ...SEEN } })}\n${TOMBSTONE}\n`,
    )
  })

  it('the tombstone action of an unknown document uses the write timestamp as its version', () => {
    const version = { version: WRITE_TIMESTAMP, version_type: 'external' }
    expect(states.tombstoneAction(ADDRESS, WRITE_TIMESTAMP)).toBe(
      `${JSON.stringify({ index: { ...ADDRESS, ...version } })}\n${TOMBSTONE}\n`,
    )
  })
})
