import { beforeEach, describe, expect, it } from 'vitest'
import {
  createOptimisticConcurrency,
  type OptimisticConcurrency,
} from '../../../../../src/stores/opensearch/write/optimistic-concurrency.ts'

const SEEN = { if_seq_no: 0, if_primary_term: 2 }
const STAMP = 7
const ADDRESS = { _id: 'acc_1:ord_1', routing: 'acc_1' }
const TOMBSTONE = JSON.stringify({ removed_key: STAMP })

let states: OptimisticConcurrency
beforeEach(() => {
  states = createOptimisticConcurrency()
})

describe('the line of a bulk that writes a document', () => {
  it('names the state that it was seen in', () => {
    states.recordState('orders', ADDRESS._id, SEEN)
    expect(states.indexAction('orders', ADDRESS, STAMP)).toBe(
      `${JSON.stringify({ index: { ...ADDRESS, ...SEEN } })}\n`,
    )
  })

  it('makes it where it was never seen, or seen not to be there', () => {
    const version = { version: STAMP, version_type: 'external' }
    const line = `${JSON.stringify({ index: { ...ADDRESS, ...version } })}\n`
    expect(states.indexAction('orders', ADDRESS, STAMP)).toBe(line)
    states.recordState('orders', ADDRESS._id, SEEN)
    states.recordState('orders', ADDRESS._id, null)
    expect(states.indexAction('orders', ADDRESS, STAMP)).toBe(line)
  })

  it('makes a head, which is never removed, where there was none', () => {
    const line = `${JSON.stringify({ create: { _id: 'ord_1' } })}\n`
    expect(states.indexAction('heads', { _id: 'ord_1' }, 0)).toBe(line)
  })

  it('tells a head from a document with its id', () => {
    states.recordState('heads', ADDRESS._id, SEEN)
    expect(states.indexAction('orders', ADDRESS, STAMP)).toContain('"external"')
  })
})

describe('the lines of a bulk that leave a tombstone for a document', () => {
  it('name the state that it was seen in', () => {
    states.recordState('orders', ADDRESS._id, SEEN)
    expect(states.tombstoneAction(ADDRESS, STAMP)).toBe(
      `${JSON.stringify({ index: { ...ADDRESS, ...SEEN } })}\n${TOMBSTONE}\n`,
    )
  })

  it('leave their stamp where it was never seen, so that nothing older comes after it', () => {
    const version = { version: STAMP, version_type: 'external' }
    expect(states.tombstoneAction(ADDRESS, STAMP)).toBe(
      `${JSON.stringify({ index: { ...ADDRESS, ...version } })}\n${TOMBSTONE}\n`,
    )
  })
})
