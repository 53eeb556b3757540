import { describe, expect, it } from 'vitest'
import { type BenchChange, createChanges } from '../../../scripts/bench/lag/changes.ts'
import { isValidationError, parseChange } from '../../../src/indexing/projection/change.ts'

const UNTIL = Date.parse('2026-03-01T00:00:00Z')
const EXISTING = 50

function live(count: number): { history: BenchChange[]; news: BenchChange[] } {
  const changes = createChanges(EXISTING, UNTIL)
  const history = [...changes.history()]
  return { history, news: Array.from({ length: count }, () => changes.next()) }
}

function read({ json }: BenchChange) {
  const change = parseChange(json)
  if (isValidationError(change)) throw new Error(`${change.path}: ${change.reason}`)
  return change
}

const { history, news } = live(2_000)
const byOrder = Map.groupBy([...history, ...news], ({ orderId }) => orderId)

describe('the changes of the bench', () => {
  it('begin with the orders that there are', () => {
    expect(new Set(history.map(({ orderId }) => orderId)).size).toBe(EXISTING)
    expect(history.every((change) => read(change).version === 1)).toBe(true)
  })

  it('are taken by the service, and shown to whom they say', () => {
    for (const change of [...history, ...news].filter(({ deleted }) => !deleted)) {
      const { views, changedAt } = read(change)
      expect(views.map(({ accountId }) => accountId)).toEqual(change.accountIds)
      expect(changedAt).not.toBeNull()
    }
  })

  it('show their serial, each its own and a later one than the last', () => {
    const serials = [...history, ...news].map(({ serial }) => serial)
    expect(serials).toEqual(serials.map((_, at) => at + 1))
    for (const change of news.filter(({ deleted }) => !deleted)) {
      expect(read(change).views[0]?.order.amount_total).toBe(change.serial)
    }
  })

  it('of an order have the versions one after the other, and end with its deletion', () => {
    for (const own of byOrder.values()) {
      expect(own.map((change) => read(change).version)).toEqual(own.map((_, at) => at + 1))
      expect(own.slice(0, -1).some(({ deleted }) => deleted)).toBe(false)
    }
  })

  it('of an order keep its accounts and its creation', () => {
    for (const own of byOrder.values()) {
      const kept = own
        .filter(({ deleted }) => !deleted)
        .map((change) => [change.accountIds, read(change).ownerAccountId, read(change).createdKey])
      expect(new Set(kept.map((facts) => JSON.stringify(facts))).size).toBe(1)
    }
  })

  it('are of every kind', () => {
    const versions = news.filter(({ deleted }) => !deleted).map((change) => read(change).version)
    expect(versions).toContain(1)
    expect(Math.max(...versions)).toBeGreaterThan(1)
    expect(news.some(({ deleted }) => deleted)).toBe(true)
    expect(new Set(news.map(({ accountIds }) => accountIds.length))).toEqual(new Set([1, 2]))
  })
})
