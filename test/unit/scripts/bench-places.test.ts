import { describe, expect, it } from 'vitest'
import type { Row } from '../../../scripts/bench/orders/orders.ts'
import { placesOf } from '../../../scripts/bench/orders/places.ts'

/** Later created, earlier changed; the last two alike but for their ids. */
function rowsOf(count: number): Row[] {
  return Array.from({ length: count }, (_, at) => ({
    accountId: 'acc_1',
    orderId: `ord_${String(at).padStart(6, '0')}`,
    createdKey: Math.min(at, count - 2),
    updatedKey: count - at,
  }))
}

describe('the places that pages follow', () => {
  it('are spread over a tenth of a long listing from a quarter of it on', () => {
    const places = placesOf(rowsOf(10_000), 'updated_at_asc', 100)
    expect(places.map(({ rowsBefore }) => rowsBefore)).toEqual(
      Array.from({ length: 100 }, (_, at) => 2_500 + 10 * at),
    )
  })

  it('lie one after the other in a short listing', () => {
    const places = placesOf(rowsOf(80), 'updated_at_asc', 16)
    expect(places.map(({ rowsBefore }) => rowsBefore)).toEqual(
      Array.from({ length: 16 }, (_, at) => 20 + at),
    )
  })

  it('are never further apart than a page', () => {
    const [first, second] = placesOf(rowsOf(50_000), 'updated_at_asc', 2)
    expect(Number(second?.rowsBefore) - Number(first?.rowsBefore)).toBe(100)
  })

  it('tell the order before them and the orders after them', () => {
    const [place] = placesOf(rowsOf(8), 'updated_at_asc', 1)
    expect(place).toEqual({
      accountId: 'acc_1',
      sort: 'updated_at_asc',
      rowsBefore: 2,
      after: { key: 2, id: 'ord_000006' },
      following: [
        'ord_000005',
        'ord_000004',
        'ord_000003',
        'ord_000002',
        'ord_000001',
        'ord_000000',
      ],
    })
  })

  it('go from the newest creation and, among equals, from the greatest id', () => {
    const [place] = placesOf(rowsOf(4), 'created_at_desc', 1)
    expect(place?.after).toEqual({ key: 2, id: 'ord_000003' })
    expect(place?.following).toEqual(['ord_000002', 'ord_000001', 'ord_000000'])
  })

  it('end before the last order, since a page follows each', () => {
    const places = placesOf(rowsOf(4), 'updated_at_asc', 16)
    expect(places.map(({ rowsBefore }) => rowsBefore)).toEqual([1, 2, 3])
  })

  it('tell no more orders than the largest search reads', () => {
    const [place] = placesOf(rowsOf(1_000), 'updated_at_asc', 1)
    expect(place?.following).toHaveLength(101)
  })
})
