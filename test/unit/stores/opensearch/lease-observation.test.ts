import { expect, it } from 'vitest'
import { isSameState } from '../../../../src/stores/opensearch/lease-observation.ts'

const record = { holder: 'a', released: false, lease_ms: 1_000 }
const version = (if_seq_no: number, if_primary_term: number) => ({
  record,
  state: { if_seq_no, if_primary_term },
})

it.each([
  ['an equal version', version(7, 1), version(7, 1), true],
  ['another sequence number', version(7, 1), version(8, 1), false],
  ['the same sequence number of another primary', version(7, 1), version(7, 2), false],
  ['a removed lease', version(7, 1), null, false],
])('isSameState compares a lease with %s', (_name, one, other, isSame) => {
  expect(isSameState(one, other)).toBe(isSame)
})
