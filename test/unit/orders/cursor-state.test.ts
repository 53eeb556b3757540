import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PagerState } from '../../../src/orders/cursor.ts'
import { decodeState, encodeState } from '../../../src/orders/cursor.ts'
import { NULL_INSTANT_KEY } from '../../../src/orders/order-store.ts'
import { pagerStates } from '../../support/orders/arbitraries.ts'

const NOWHERE: PagerState = { after: null, dated: null, mark: null, nextMark: null }
const LONGEST_ID = 'x'.repeat(64)

describe('the bytes of a pager state', () => {
  it('the bytes of a pager state decode to the same state', () => {
    fc.assert(
      fc.property(pagerStates, (state) => {
        expect(decodeState(encodeState(state))).toEqual(state)
      }),
    )
  })

  it('the bytes of a pager state differ for different states', () => {
    fc.assert(
      fc.property(pagerStates, pagerStates, (one, other) => {
        const isSame = JSON.stringify(one) === JSON.stringify(other)
        expect(encodeState(one).equals(encodeState(other))).toBe(isSame)
      }),
    )
  })

  it.each(['after', 'dated', 'mark', 'nextMark'] as const)(
    'the bytes of a pager state distinguish %s from the other positions',
    (field) => {
      const state = { ...NOWHERE, [field]: { key: 7, id: 'ord_1' } }
      expect(decodeState(encodeState(state))).toEqual(state)
    },
  )

  it.each([
    ['the key of an order without updated_at', NULL_INSTANT_KEY],
    ['a key before 1970', -1],
    ['the first valid instant', Date.parse('0000-01-01T00:00:00Z')],
    ['a key that needs more than 32 bits', 2 ** 32 + 1],
    ['zero', 0],
  ])('the bytes of a pager state keep %s', (_name, key) => {
    const state = { ...NOWHERE, after: { key, id: 'ord_1' } }
    expect(decodeState(encodeState(state))).toEqual(state)
  })

  it('the bytes of a pager state keep an empty id', () => {
    const state = { ...NOWHERE, nextMark: { key: 0, id: '' } }
    expect(decodeState(encodeState(state))).toEqual(state)
  })

  it('the bytes of a pager state are one byte without positions', () => {
    expect(encodeState(NOWHERE)).toHaveLength(1)
  })

  it('the bytes of a pager state have a length of at most 293', () => {
    const position = { key: NULL_INSTANT_KEY, id: LONGEST_ID }
    const state = { after: position, dated: position, mark: position, nextMark: position }
    expect(encodeState(state)).toHaveLength(1 + 4 * 73)
  })
})
