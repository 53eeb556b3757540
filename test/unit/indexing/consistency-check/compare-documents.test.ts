import { describe, expect, it } from 'vitest'
import {
  compareDocuments,
  versionStatus,
} from '../../../../src/indexing/consistency-check/compare-documents.ts'
import type { OrderVersionRecord } from '../../../../src/indexing/writer/order-index.ts'
import { changeOf, wholeOrder } from '../../../support/orders/changes.ts'
import {
  BACKSLASH_TRACKING,
  confuseParser,
  QUOTE_TRACKING,
} from '../../../support/orders/escaped-names.ts'
import { documentsOf } from './found-document.ts'

const change = changeOf({ ...wholeOrder, version: 3 })
const record: OrderVersionRecord = {
  orderId: 'ord_1',
  version: 3,
  ownerAccountId: 'acc_1',
  accountIds: ['acc_1', 'acc_2'],
  createdKey: change.createdKey,
  hasUpdatedAt: true,
  deleted: false,
}
const documents = documentsOf(change)
const changed = documentsOf(changeOf({ ...wholeOrder, status: 'REFUNDED' }))

describe('a version and the one that the index has', () => {
  it.each([
    ['current', record],
    ['behind', { ...record, version: 2 }],
    ['behind', undefined],
    ['superseded', { ...record, version: 4 }],
    [
      expect.objectContaining({ path: '/owner_account_id' }),
      { ...record, ownerAccountId: 'acc_9' },
    ],
    [expect.objectContaining({ path: '/created_at' }), { ...record, version: 2, createdKey: 1 }],
  ])('are compared: %s', (expected, found) => {
    expect(versionStatus(change, found)).toEqual(expected)
  })

  it('are compared also where its date lies in the future', () => {
    expect(
      versionStatus(changeOf({ ...wholeOrder, changed_at: '2999-01-01T00:00:00Z' }), undefined),
    ).toBe('behind')
  })
})

describe('the documents of a version', () => {
  it('are right as they were written', () => {
    expect(compareDocuments(change, record, documents)).toEqual([])
  })

  it('are different where a tracking key is another, also where V8 confuses names with escapes', () => {
    confuseParser()
    const tracked = changeOf({ ...wholeOrder, version: 3, tracking: QUOTE_TRACKING })
    const [document, ...others] = documentsOf(tracked)
    if (document === undefined) throw new Error('an order has an owner')
    const tracking = { ...BACKSLASH_TRACKING, '\\': '1' }
    const found = { ...document, order: { ...Object(document.order), tracking } }
    expect(compareDocuments(tracked, record, [found, ...others])).toMatchObject([
      { kind: 'different', accountId: 'acc_1', fields: ['/tracking/*', '/tracking/*'] },
    ])
  })

  it('are left to the walk over all documents where they are damaged', () => {
    const damaged = changed.map((document) => ({ ...document, damaged: true as const }))
    expect(compareDocuments(change, record, damaged)).toEqual([])
  })

  it('are missing one by one', () => {
    expect(compareDocuments(change, record, documents.slice(1))).toMatchObject([
      { kind: 'missing', accountId: 'acc_1', orderId: 'ord_1' },
    ])
  })

  it('are different where they show something else', () => {
    expect(compareDocuments(change, record, changed)).toMatchObject([
      { kind: 'different', accountId: 'acc_1', fields: ['/status'] },
      { kind: 'different', accountId: 'acc_2', fields: ['/status'] },
    ])
  })

  it('are different where they have a date and no version came with one', () => {
    const undated = changeOf({ ...wholeOrder, version: 3, changed_at: null })
    expect(compareDocuments(undated, { ...record, hasUpdatedAt: false }, documents)).toMatchObject([
      { fields: ['/updated_at'] },
      { fields: ['/updated_at'] },
    ])
  })

  it('have a date where an earlier version came with one', () => {
    const undated = changeOf({ ...wholeOrder, version: 3, changed_at: null })
    expect(compareDocuments(undated, record, documents)).toEqual([])
  })

  it('that contradict themselves are told elsewhere', () => {
    const odd = changed.map((document) => ({
      ...document,
      keys: { ...document.keys, created_key: undefined },
    }))
    expect(compareDocuments(change, record, odd)).toEqual([])
  })

  it.each([
    ['an older version of which', { ...record, version: 2 }, 'version 2'],
    ['an order of which nothing', undefined, 'does not know the order'],
    [
      'an order of which nothing but documents',
      { ...record, version: 0 },
      'does not know the order',
    ],
  ])('are right, but the index has %s is recorded', (_what, found, what) => {
    expect(compareDocuments(change, found, documents)).toMatchObject([
      { kind: 'missing', accountId: 'acc_1', what: expect.stringContaining(what) },
    ])
  })

  it('that should not be are told elsewhere', () => {
    const deletion = { id: 'ord_1', version: 3, owner_account_id: 'acc_1', deleted: true }
    expect(compareDocuments(changeOf(deletion), record, [])).toEqual([])
  })
})
