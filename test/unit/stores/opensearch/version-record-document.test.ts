import { expect, it } from 'vitest'
import { DocumentRejectedError } from '../../../../src/indexing/writer/writer-errors.ts'
import {
  toVersionRecord,
  toVersionRecordSource,
} from '../../../../src/stores/opensearch/version-record-document.ts'
import { versionRecord } from '../../../support/orders/version-record.ts'

const record = versionRecord({ version: 3, accountIds: ['acc_1', 'acc_2'] })
const announced = { sequence: 2, recordedAt: 5, lastPaymentId: 'pay_1' }
const tracked = { state: null, digests: { acc_1: '1:x' } }

const read = (_source: unknown) => () =>
  toVersionRecord({ _id: 'ord_1', _index: 'order-heads-v1', _source })

it.each([
  ['of a release without events', record],
  ['of an order without a date of creation', { ...record, createdKey: null }],
  ['with a write timestamp', { ...record, writtenKey: 5 }],
  ['with the last event', { ...record, announced }],
  ['with an announced state', { ...record, announced: { ...announced, tracked } }],
])('a version record %s is read as it was written', (_which, written) => {
  expect(read(toVersionRecordSource(written))()).toEqual(written)
})

it.each<[string, unknown]>([
  ['version', { version: undefined }],
  ['version', { version: '3' }],
  ['version', { version: 2 ** 53 }],
  ['owner', { owner: undefined }],
  ['accounts', { accounts: undefined }],
  ['accounts', { accounts: 'acc_1' }],
  ['accounts', { accounts: [null] }],
  ['created_at', { created_at: '2026-03-01' }],
  ['filled', { filled: undefined }],
  ['deleted', { deleted: 'no' }],
  ['written', { written: '5' }],
  ['announced', { announced: 7 }],
  ['announced', { announced: { ...announced, tracked: null } }],
  ['owner, accounts', { owner: 7, accounts: null }],
])('a version record with a damaged %s is rejected with its place: %j', (fields, damage) => {
  const damaged = read({ ...toVersionRecordSource(record), ...Object(damage) })
  expect(damaged).toThrow(DocumentRejectedError)
  expect(damaged).toThrow(`of ord_1 is damaged (${fields} in order-heads-v1/_doc/ord_1): restore`)
})

it.each([[undefined], [null], ['x']])('a version record that is %j is rejected', (source) => {
  expect(read(source)).toThrow(DocumentRejectedError)
})
