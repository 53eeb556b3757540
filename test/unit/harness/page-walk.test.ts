import { describe, expect, it } from 'vitest'
import { createOracle } from '../../harness/traffic/oracle.ts'
import { createPageWalk } from '../../harness/traffic/page-walk.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'

const sources = [
  sourceOrder({ id: 'ord_a', created_at: '2026-03-01T12:00:00Z', changed_at: null }),
  sourceOrder({ id: 'ord_b', created_at: '2026-03-02T12:00:00Z', status: 'UNPAID' }),
  sourceOrder({ id: 'ord_c', created_at: '2026-03-01T12:00:00Z' }),
  sourceOrder({ id: 'ord_d', owner_account_id: 'acc_2', coproducer_account_ids: ['acc_1'] }),
  sourceOrder({ id: 'ord_e', owner_account_id: 'acc_2' }),
]
const truth = createOracle(sources)
const byCreation = { accountId: 'acc_1', sort: 'created_at_desc' } as const
const listed = truth.list(byCreation)

describe('the oracle', () => {
  it.each([
    ['created_at_desc', 'ord_b,ord_d,ord_c,ord_a'],
    ['updated_at_asc', 'ord_b,ord_c,ord_d,ord_a'],
  ] as const)('the oracle has the orders of an account as %s lists them', (sort, ids) => {
    const orders = truth.list({ accountId: 'acc_1', sort })
    expect(orders.map(({ id }) => id).join()).toBe(ids)
  })

  it('the oracle filters by status', () => {
    const orders = truth.list({ ...byCreation, status: 'UNPAID' })
    expect(orders.map(({ id }) => id)).toEqual(['ord_b'])
  })

  it('the oracle contains each order as its account sees it', () => {
    expect(truth.find('acc_1', 'ord_d')?.role).toBe('COPRODUCER')
    expect(truth.find('acc_2', 'ord_d')?.role).toBe('OWNER')
    expect(truth.find('acc_1', 'ord_e')).toBeUndefined()
  })
})

describe('a page walk', () => {
  const first = { data: listed.slice(0, 3), has_more: true, next_cursor: 'next' }

  it('a page walk follows the cursor and ends without one', () => {
    const walk = createPageWalk(byCreation, listed)
    expect(walk.path(3)).toBe('/v1/orders?sort=created_at_desc&limit=3')
    expect([walk.accept(first, 3), walk.isOver]).toEqual([undefined, false])
    expect(walk.path(5)).toBe('/v1/orders?sort=created_at_desc&limit=5&cursor=next')
    const last = { data: listed.slice(3), has_more: false, next_cursor: null }
    expect([walk.accept(last, 5), walk.isOver]).toEqual([undefined, true])
  })

  const [one, two, three, four] = listed
  it.each([
    ['an order is missing', { ...first, data: [one, three, four] }],
    ['an order is repeated', { ...first, data: [one, one, two] }],
    ['two orders are swapped', { ...first, data: [two, one, three] }],
    ['an order is left out at the end', { ...first, data: [one, two] }],
    ['a field differs', { ...first, data: [one, two, { ...three, amount_total: 1 }] }],
    ['has_more is false too early', { ...first, has_more: false, next_cursor: null }],
    ['the next cursor is missing', { ...first, next_cursor: null }],
  ])('a page walk reports a page where %s, and ends', (_what, page) => {
    const walk = createPageWalk(byCreation, listed)
    expect(walk.accept(page, 3)).toContain('after ')
    expect(walk.isOver).toBe(true)
  })
})
