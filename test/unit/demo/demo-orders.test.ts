import { Value } from '@sinclair/typebox/value'
import { describe, expect, it } from 'vitest'
import { DEMO_ACCOUNT, DEMO_ACCOUNTS } from '../../../src/demo/accounts.ts'
import { demoOrders } from '../../../src/demo/demo-orders.ts'
import { ROUND_LENGTH, scenarioAt, scenarios } from '../../../src/demo/scenarios.ts'
import { SourceOrder } from '../../../src/indexing/projection/source-order.ts'
import { DAY_MS } from '../../../src/lib/durations.ts'
import { byText, idsOf, idsWhere, orders, until } from './sample.ts'

describe('demo orders', () => {
  it('demo orders are deterministic for the same options', () => {
    expect([...demoOrders({ count: 3000, seed: 1, until })]).toEqual(orders)
  })

  it('demo orders differ for another seed', () => {
    const ids = new Set(orders.map(({ id }) => id))
    const others = [...demoOrders({ count: 3000, seed: 2, until })]
    expect(others.filter(({ id }) => ids.has(id))).toEqual([])
    expect(others.map(({ customer }) => customer)).not.toEqual(
      orders.map(({ customer }) => customer),
    )
  })

  it('demo orders are a prefix of a longer sequence', () => {
    expect([...demoOrders({ count: 100, seed: 1, until })]).toEqual(orders.slice(0, 100))
  })

  it('demo orders shift as a whole with `until`', () => {
    const later = [...demoOrders({ count: 100, seed: 1, until: until + DAY_MS })]
    expect(later.map(({ created_at }) => Date.parse(created_at) - DAY_MS)).toEqual(
      orders.slice(0, 100).map(({ created_at }) => Date.parse(created_at)),
    )
  })

  it('demo orders match the schema of a source order', () => {
    expect(idsWhere((order) => !Value.Check(SourceOrder, order))).toEqual([])
  })

  it('demo orders have unique ids that are not sorted by creation', () => {
    const inOrderOfIds = orders.toSorted((a, b) => byText(a.id, b.id))
    const inOrderOfTime = orders.toSorted((a, b) => byText(a.created_at, b.created_at))
    expect(new Set(orders.map(({ id }) => id)).size).toBe(orders.length)
    expect(idsOf(inOrderOfIds)).not.toEqual(idsOf(orders))
    expect(idsOf(inOrderOfIds)).not.toEqual(idsOf(inOrderOfTime))
  })

  it('demo orders belong to the demo accounts, most of them to the first', () => {
    const accounts = new Set(
      orders.flatMap((order) => [order.owner_account_id, ...(order.coproducer_account_ids ?? [])]),
    )
    const owned = orders.filter(({ owner_account_id }) => owner_account_id === DEMO_ACCOUNT)
    expect([...accounts].toSorted(byText)).toEqual([...DEMO_ACCOUNTS])
    expect(owned.length).toBeGreaterThan(orders.length / 2)
  })

  it('demo orders contain every scenario as often as its weight in any round', () => {
    for (const start of [0, 1, 777]) {
      const round = Array.from({ length: ROUND_LENGTH }, (_, at) => scenarioAt(start + at))
      const played = scenarios.map((scenario) => round.filter((one) => one === scenario).length)
      expect(played).toEqual(scenarios.map(({ weight }) => weight))
    }
  })
})
