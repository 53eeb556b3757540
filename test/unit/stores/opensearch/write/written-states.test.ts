import { beforeEach, describe, expect, it } from 'vitest'
import {
  createWrittenStates,
  StaleReadError,
  type WrittenStates,
} from '../../../../../src/stores/opensearch/write/written-states.ts'

const INDEX = 'orders-v1'

const item = (_id: string) => ({ orderId: _id, address: { _id } })
const accepted = (seqNo: number, term: number) => ({
  status: 200,
  _seq_no: seqNo,
  _primary_term: term,
})
const state = (seqNo: number, term: number) => ({ if_seq_no: seqNo, if_primary_term: term })

let written: WrittenStates
beforeEach(() => {
  written = createWrittenStates(2)
  written.record(INDEX, [item('a')], [accepted(7, 3)])
})

describe('a document that this writer wrote', () => {
  it.each([
    ['as it was left', state(7, 3)],
    ['changed since', state(8, 3)],
    ['changed since a replica was promoted', state(2, 4)],
  ])('is current %s', (_how, read) => {
    expect(() => written.assertCurrent(INDEX, 'a', read)).not.toThrow()
  })

  it.each([
    ['an earlier state of it', state(6, 3)],
    ['a later state of the earlier primary', state(9, 2)],
    ['none', null],
  ])('is outdated when a node returns %s', (_what, read) => {
    expect(() => written.assertCurrent(INDEX, 'a', read)).toThrow(StaleReadError)
  })
})

it.each([
  ['of another index', 'orders-v2', 'a'],
  ['that it did not write', INDEX, 'b'],
])('a document %s is current in any state', (_which, index, id) => {
  expect(() => written.assertCurrent(index, id, null)).not.toThrow()
})

it('a rejected item leaves no state', () => {
  written.record(INDEX, [item('b')], [{ status: 409 }])
  expect(() => written.assertCurrent(INDEX, 'b', null)).not.toThrow()
})

it('the states are full once they reach their number, and are forgotten together', () => {
  written.record(INDEX, [item('a')], [accepted(8, 3)])
  expect(written.isFull()).toBe(false)
  written.record('order-heads-v1', [item('a')], [accepted(1, 1)])
  expect(written.isFull()).toBe(true)
  written.clear()
  expect(written.isFull()).toBe(false)
  expect(() => written.assertCurrent(INDEX, 'a', null)).not.toThrow()
})
