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

describe('the bulk action', () => {
  const version = { version: WRITE_TIMESTAMP, version_type: 'external' }
  const line = `${JSON.stringify({ index: { ...ADDRESS, ...version } })}\n`

  it('of a document and of a tombstone uses the write timestamp as its version', () => {
    states.recordState('orders', ADDRESS._id, SEEN)
    expect(states.indexAction('orders', ADDRESS, WRITE_TIMESTAMP)).toBe(line)
    expect(states.tombstoneAction(ADDRESS, WRITE_TIMESTAMP)).toBe(`${line}${TOMBSTONE}\n`)
  })

  it('of a version record names the last known state', () => {
    states.recordState('versionRecords', 'ord_1', SEEN)
    expect(states.indexAction('versionRecords', { _id: 'ord_1' }, 0)).toBe(
      `${JSON.stringify({ index: { _id: 'ord_1', ...SEEN } })}\n`,
    )
  })

  it('of a version record creates one that does not exist', () => {
    const create = `${JSON.stringify({ create: { _id: 'ord_1' } })}\n`
    expect(states.indexAction('versionRecords', { _id: 'ord_1' }, 0)).toBe(create)
    states.recordState('versionRecords', 'ord_1', SEEN)
    states.recordState('versionRecords', 'ord_1', null)
    expect(states.indexAction('versionRecords', { _id: 'ord_1' }, 0)).toBe(create)
  })

  it('of an event record creates one, since a sequence is announced once', () => {
    states.recordState('versionRecords', 'ord_1', SEEN)
    expect(states.indexAction('eventRecords', { _id: 'ord_1' }, 0)).toContain('"create"')
  })

  it('of a document ignores the state of a version record with the same id', () => {
    states.recordState('versionRecords', ADDRESS._id, SEEN)
    expect(states.indexAction('orders', ADDRESS, WRITE_TIMESTAMP)).toBe(line)
  })
})
