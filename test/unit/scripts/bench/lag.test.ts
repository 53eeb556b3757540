import { describe, expect, it } from 'vitest'
import { type BenchChange, createChanges } from '../../../../scripts/bench/parts/lag/changes.ts'
import { createLagLedger } from '../../../../scripts/bench/parts/lag/ledger.ts'
import { lagFigures } from '../../../../scripts/bench/parts/lag/pipeline.ts'
import { reportLag } from '../../../../scripts/bench/parts/lag.ts'
import { failuresOf, recordedOf } from '../../../../scripts/bench/report.ts'
import { isValidationError, parseChange } from '../../../../src/indexing/projection/change.ts'

describe('generated changes', () => {
  const changes = createChanges(50, Date.parse('2026-03-01T00:00:00Z'))
  const history = [...changes.history()]
  const later = Array.from({ length: 2_000 }, () => changes.next())
  const all = [...history, ...later]
  const versions = all.filter(({ deleted }) => !deleted)

  function read({ json }: BenchChange) {
    const change = parseChange(json)
    if (isValidationError(change)) throw new Error(`${change.path}: ${change.reason}`)
    return change
  }

  it('The service accepts each change and shows it with its serial to the given accounts', () => {
    expect(all.map(({ serial }) => serial)).toEqual(all.map((_, at) => at + 1))
    for (const change of versions) {
      const { views } = read(change)
      expect(views.map(({ accountId }) => accountId)).toEqual(change.accountIds)
      expect(views[0]?.order.amount_total).toBe(change.serial)
    }
  })

  it('An order keeps its accounts and creation, its versions are consecutive, and a deletion is last', () => {
    for (const own of Map.groupBy(all, ({ orderId }) => orderId).values()) {
      expect(own.map((change) => read(change).version)).toEqual(own.map((_, at) => at + 1))
      expect(own.slice(0, -1).some(({ deleted }) => deleted)).toBe(false)
      const constant = own
        .filter(({ deleted }) => !deleted)
        .map((change) => {
          return JSON.stringify([change.accountIds, read(change).createdKey])
        })
      expect(new Set(constant).size).toBe(1)
    }
  })

  it('The changes include new orders, new versions, deletions and co-produced orders', () => {
    expect(new Set(history.map(({ orderId }) => orderId)).size).toBe(50)
    const numbers = later.map((change) => read(change).version)
    expect(numbers).toContain(1)
    expect(Math.max(...numbers)).toBeGreaterThan(1)
    expect(later.some(({ deleted }) => deleted)).toBe(true)
    expect(new Set(later.map(({ accountIds }) => accountIds.length))).toEqual(new Set([1, 2]))
  })
})

describe('ledger', () => {
  const row = (serial: number, id: string) => ({ id, amount_total: serial })

  /** A ledger with these changes, of account 1 unless they say otherwise. */
  function ledgerOf(...sent: (Partial<BenchChange> & { serial: number; orderId: string })[]) {
    const ledger = createLagLedger(['acc_1', 'acc_2'])
    for (const change of sent) {
      const sentAtMs = 50 * change.serial
      ledger.sent({ deleted: false, accountIds: ['acc_1'], json: '{}', ...change }, sentAtMs)
    }
    return ledger
  }
  const twoVersions = () =>
    ledgerOf({ serial: 1, orderId: 'ord_a' }, { serial: 2, orderId: 'ord_a' })

  it('A lag is the time from sending a change until its account first sees it', () => {
    const ledger = ledgerOf({ serial: 1, orderId: 'ord_a' }, { serial: 2, orderId: 'ord_b' })
    ledger.shown('acc_1', [row(1, 'ord_a'), row(2, 'ord_b')], 1_100)
    ledger.shown('acc_1', [row(2, 'ord_b')], 1_200)
    const lagsMs = Float64Array.of(1_000, 1_050)
    expect(ledger.take()).toEqual({ lagsMs, overtaken: 0, failures: {} })
    expect(ledger.take()).toEqual({ lagsMs: new Float64Array(), overtaken: 0, failures: {} })
  })

  it('A change counts once for each account that follows it', () => {
    const accountIds = ['acc_1', 'acc_2', 'acc_other']
    const ledger = ledgerOf({ serial: 1, orderId: 'ord_a', accountIds })
    ledger.shown('acc_1', [row(1, 'ord_a')], 55)
    expect(ledger.due()).toBe(1)
    ledger.shown('acc_2', [row(1, 'ord_a')], 57)
    expect(ledger.due()).toBe(0)
    expect(ledger.take().lagsMs).toEqual(Float64Array.of(5, 7))
  })

  it('A latest version that was not shown is missed, and an earlier one is overtaken', () => {
    const missing = twoVersions()
    missing.shown('acc_1', [row(1, 'ord_a')], 10)
    const failures = { 'a change that was never shown': 1 }
    expect(missing.take()).toMatchObject({ overtaken: 0, failures })
    const complete = twoVersions()
    complete.shown('acc_1', [row(2, 'ord_a')], 10)
    expect(complete.take()).toMatchObject({ overtaken: 1, failures: {} })
  })

  it('A deleted order is not due', () => {
    const deletion = { serial: 2, orderId: 'ord_a', deleted: true }
    const ledger = ledgerOf({ serial: 1, orderId: 'ord_a' }, deletion)
    expect(ledger.due()).toBe(0)
    expect(ledger.take()).toMatchObject({ overtaken: 1, failures: {} })
  })

  it.each([
    ['another account', 'acc_2', row(1, 'ord_a')],
    ['another order', 'acc_1', row(1, 'ord_b')],
    ['no change', 'acc_1', row(9, 'ord_a')],
  ])('A row with the data of %s is a failure', (_, accountId, shown) => {
    const other = { serial: 2, orderId: 'ord_b', accountIds: ['acc_2'] }
    const ledger = ledgerOf({ serial: 1, orderId: 'ord_a' }, other)
    ledger.shown(accountId, [shown], 10)
    const unknown = { 'an order that matches no sent change': 1 }
    expect(ledger.take().failures).toMatchObject(unknown)
  })

  it('An older version after a newer one and a missing page are failures', () => {
    const ledger = twoVersions()
    ledger.shown('acc_1', [row(2, 'ord_a')], 10)
    ledger.shown('acc_1', [row(1, 'ord_a')], 20)
    ledger.failed('no response')
    ledger.failed('no response')
    const failures = { 'an older version after a newer one': 1, 'no response': 2 }
    expect(ledger.take().failures).toEqual(failures)
  })
})

it('Lags are recorded as costs, by the interval of a refresh and as medians of the rounds', () => {
  const sample = (lagsMs: number[], failures = {}) =>
    lagFigures({ lagsMs: Float64Array.from(lagsMs), overtaken: 1, failures })
  const rounds = [sample([1_000, 2_000]), sample([500, 1_500, 9_000]), sample([1_200, 3_000])]
  const missed = sample([60_000], { 'a change that was never shown': 3 })
  const report = reportLag('500/s', missed, rounds)
  const costs = { 'p50 lag÷refresh 500/s': 1.2, 'p99 lag÷refresh 500/s': 3 }
  expect(recordedOf(report).costs).toEqual(costs)
  const failure = '! 500/s, warming up: a change that was never shown, 3 of 1 responses'
  expect(failuresOf(report)).toEqual([failure])
})
