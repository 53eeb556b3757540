import { describe, expect, it } from 'vitest'
import { createCases, meanRows } from '../../../scripts/bench/orders/cases.ts'
import { createOrders, LARGE_ACCOUNT } from '../../../scripts/bench/orders/orders.ts'
import { NULL_UPDATED_KEY } from '../../../src/orders/order-store.ts'

const UNTIL = Date.UTC(2026, 0, 1)
const COUNT = 8_000
const orders = createOrders(COUNT, UNTIL)
const rows = [...orders.rows()]

describe('the orders of the bench', () => {
  it('are half of one account, a tenth of another, and eighty of each of the rest', () => {
    const byAccount = Map.groupBy(rows, ({ accountId }) => accountId)
    const shareOf = (id: string) => (byAccount.get(id)?.length ?? 0) / COUNT
    expect(shareOf(LARGE_ACCOUNT)).toBeCloseTo(0.5, 1)
    expect(shareOf('acc_medium')).toBeCloseTo(0.1, 1)
    expect(orders.smallAccounts).toHaveLength(40)
    for (const id of orders.smallAccounts) {
      expect(byAccount.get(id)?.length).toBeGreaterThan(40)
      expect(byAccount.get(id)?.length).toBeLessThan(120)
    }
  })

  it('each have an id of their own, and some no date of a change', () => {
    expect(new Set(rows.map(({ orderId }) => orderId)).size).toBe(COUNT)
    const undated = rows.filter(({ updatedKey }) => updatedKey === NULL_UPDATED_KEY)
    expect(undated.length / COUNT).toBeCloseTo(0.02, 1)
  })

  it('are the same every time', () => {
    expect([...createOrders(COUNT, UNTIL).rows()]).toEqual(rows)
  })

  it('are written as documents that tell the same as their rows', () => {
    for (const [at, lines] of orders.bulkLines().take(200).toArray().entries()) {
      const [action = '', source = ''] = lines.trimEnd().split('\n')
      const { accountId, orderId, createdKey, updatedKey } = rows[at] ?? {}
      expect(JSON.parse(action)).toEqual({
        index: { _id: `${accountId}:${orderId}`, routing: accountId },
      })
      const document = JSON.parse(source)
      expect(document).toMatchObject({
        account_id: accountId,
        id: orderId,
        created_key: createdKey,
        updated_key: updatedKey,
        order: { id: orderId, created_at: new Date(Number(createdKey)).toISOString() },
      })
      const updatedAt = updatedKey === NULL_UPDATED_KEY ? null : new Date(Number(updatedKey))
      expect(document.order.updated_at).toBe(updatedAt?.toISOString() ?? null)
    }
  })
})

describe('the cases of the bench', () => {
  const cases = createCases(orders)

  it('are both accounts, sorts and limits', () => {
    expect(cases.map(({ name }) => name)).toEqual([
      'large created 20',
      'large created 100',
      'large updated 20',
      'large updated 100',
      'small created 20',
      'small created 100',
      'small updated 20',
      'small updated 100',
    ])
  })

  it('have more pages each than the server looks back at before it keeps a filter', () => {
    for (const { places } of cases) expect(places.length).toBeGreaterThan(256)
  })

  it('tell how many orders a page has: a small account ends before a hundred', () => {
    const [largeOf20, largeOf100, , , smallOf20, smallOf100] = cases.map(meanRows)
    expect([largeOf20, largeOf100, smallOf20]).toEqual([20, 100, 20])
    expect(smallOf100).toBeGreaterThan(20)
    expect(smallOf100).toBeLessThan(100)
  })
})
