import { expect, it } from 'vitest'
import { reindexPhase } from '../../../../../src/stores/opensearch/reindex/reindex-phase.ts'

const versionRecords = ['order-heads-v1']

it('one write target is no reindex', () => {
  expect(reindexPhase({ orders: ['orders-v9'], versionRecords })).toEqual({
    kind: 'single',
    live: 'orders-v9',
  })
})

it('a live index with a newer write target is a reindex that still builds', () => {
  expect(reindexPhase({ orders: ['orders-v9', 'orders-v10'], versionRecords })).toEqual({
    kind: 'building',
    live: 'orders-v9',
    next: 'orders-v10',
  })
})

it('a live index with an older write target is a reindex that has switched', () => {
  expect(reindexPhase({ orders: ['orders-v10', 'orders-v9'], versionRecords })).toEqual({
    kind: 'switched',
    live: 'orders-v10',
    old: 'orders-v9',
  })
})
