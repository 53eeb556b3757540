import { describe, expect, it } from 'vitest'
import {
  compareDocuments,
  versionStatus,
} from '../../../../src/indexing/consistency-check/compare-documents.ts'
import { changeOf, wholeOrder } from '../../../support/orders/changes.ts'
import {
  BACKSLASH_TRACKING,
  confuseParser,
  QUOTE_TRACKING,
} from '../../../support/orders/escaped-names.ts'
import { versionRecord } from '../../../support/orders/version-record.ts'
import { documentsOf } from './inspected-document.ts'

const change = changeOf({ ...wholeOrder, version: 3 })
const record = versionRecord({
  version: 3,
  accountIds: ['acc_1', 'acc_2'],
  createdKey: change.createdKey,
})
const documents = documentsOf(change)
const changed = documentsOf(changeOf({ ...wholeOrder, status: 'REFUNDED' }))

describe('the comparison of a version with the index', () => {
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
  ])('the version status is %s', (expected, found) => {
    expect(versionStatus(change, found)).toEqual(expected)
  })

  it('a version dated in the future is still comparable', () => {
    expect(
      versionStatus(changeOf({ ...wholeOrder, changed_at: '2999-01-01T00:00:00Z' }), undefined),
    ).toBe('behind')
  })
})

describe('the comparison of the documents of a version', () => {
  it('documents are consistent as they were written', () => {
    expect(compareDocuments(change, record, documents)).toEqual([])
  })

  it('documents differ in a tracking key, even where V8 confuses names with escapes', () => {
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

  it('the comparison leaves damaged documents to the scan of all documents', () => {
    const damaged = changed.map((document) => ({ ...document, damaged: true as const }))
    expect(compareDocuments(change, record, damaged)).toEqual([])
  })

  it('the comparison reports each missing document', () => {
    expect(compareDocuments(change, record, documents.slice(1))).toMatchObject([
      { kind: 'missing', accountId: 'acc_1', orderId: 'ord_1' },
    ])
  })

  it('documents differ when they show other content', () => {
    expect(compareDocuments(change, record, changed)).toMatchObject([
      { kind: 'different', accountId: 'acc_1', fields: ['/status'] },
      { kind: 'different', accountId: 'acc_2', fields: ['/status'] },
    ])
  })

  it('documents differ when they have a date and no version had one', () => {
    const undated = changeOf({ ...wholeOrder, version: 3, changed_at: null })
    expect(compareDocuments(undated, { ...record, hasUpdatedAt: false }, documents)).toMatchObject([
      { fields: ['/updated_at'] },
      { fields: ['/updated_at'] },
    ])
  })

  it('documents keep the date of an earlier version', () => {
    const undated = changeOf({ ...wholeOrder, version: 3, changed_at: null })
    expect(compareDocuments(undated, record, documents)).toEqual([])
  })

  it('the comparison leaves contradictory key fields to the scan of all documents', () => {
    const odd = changed.map((document) => ({
      ...document,
      keys: { ...document.keys, created_key: undefined },
    }))
    expect(compareDocuments(change, record, odd)).toEqual([])
  })

  it.each([
    ['an older version', { ...record, version: 2 }, 'version 2'],
    ['no version record', undefined, 'has no record of the order'],
    ['a version record of version 0', { ...record, version: 0 }, 'has no record of the order'],
  ])('the comparison reports a missing version when the index has %s', (_what, found, what) => {
    expect(compareDocuments(change, found, documents)).toMatchObject([
      { kind: 'missing', accountId: 'acc_1', what: expect.stringContaining(what) },
    ])
  })

  it('the comparison leaves unexpected documents to the scan of all documents', () => {
    const deletion = { id: 'ord_1', version: 3, owner_account_id: 'acc_1', deleted: true }
    expect(compareDocuments(changeOf(deletion), record, [])).toEqual([])
  })
})
