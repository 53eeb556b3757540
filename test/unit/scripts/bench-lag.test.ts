import { describe, expect, it } from 'vitest'
import { type LagSample, reportLag } from '../../../scripts/bench/parts/lag.ts'
import { type BenchChange, createChanges } from '../../../scripts/bench/parts/lag-changes.ts'
import { createLagLedger } from '../../../scripts/bench/parts/lag-ledger.ts'
import { isValidationError, parseChange } from '../../../src/indexing/projection/change.ts'

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
      ledger.sent({ deleted: false, accountIds: ['acc_1'], json: '{}', ...change })
    }
    return ledger
  }
  const twoVersions = () =>
    ledgerOf({ serial: 1, orderId: 'ord_a' }, { serial: 2, orderId: 'ord_a' })

  it('A lag is the time from the entry of a change until its account first sees it', () => {
    const ledger = ledgerOf({ serial: 1, orderId: 'ord_a' }, { serial: 2, orderId: 'ord_b' })
    ledger.entered(1, 100)
    ledger.entered(2, 150)
    ledger.shown('acc_1', [row(1, 'ord_a'), row(2, 'ord_b')], 1_100)
    ledger.shown('acc_1', [row(2, 'ord_b')], 1_200)
    const lagsMs = Float64Array.of(950, 1_000)
    expect(ledger.take()).toEqual({ lagsMs, overtaken: 0, missed: 0, failures: {} })
    const lags = new Float64Array()
    expect(ledger.take()).toEqual({ lagsMs: lags, overtaken: 0, missed: 0, failures: {} })
  })

  it('A change counts once for each account that follows it', () => {
    const accountIds = ['acc_1', 'acc_2', 'acc_other']
    const ledger = ledgerOf({ serial: 1, orderId: 'ord_a', accountIds })
    ledger.entered(1, 0)
    ledger.shown('acc_1', [row(1, 'ord_a')], 5)
    expect(ledger.due()).toBe(1)
    ledger.shown('acc_2', [row(1, 'ord_a')], 7)
    expect(ledger.due()).toBe(0)
    expect(ledger.take().lagsMs).toEqual(Float64Array.of(5, 7))
  })

  it('A latest version that was not shown is missed, and an earlier one is overtaken', () => {
    const missing = twoVersions()
    missing.shown('acc_1', [row(1, 'ord_a')], 10)
    expect(missing.take()).toMatchObject({ missed: 1, overtaken: 0 })
    const complete = twoVersions()
    complete.shown('acc_1', [row(2, 'ord_a')], 10)
    expect(complete.take()).toMatchObject({ missed: 0, overtaken: 1 })
  })

  it('A deleted order is not due', () => {
    const deletion = { serial: 2, orderId: 'ord_a', deleted: true }
    const ledger = ledgerOf({ serial: 1, orderId: 'ord_a' }, deletion)
    expect(ledger.due()).toBe(0)
    expect(ledger.take()).toMatchObject({ missed: 0, overtaken: 1 })
  })

  it.each([
    ['another account', 'acc_2', row(1, 'ord_a')],
    ['another order', 'acc_1', row(1, 'ord_b')],
    ['no change', 'acc_1', row(9, 'ord_a')],
  ])('A row with the data of %s is a failure', (_, accountId, shown) => {
    const other = { serial: 2, orderId: 'ord_b', accountIds: ['acc_2'] }
    const ledger = ledgerOf({ serial: 1, orderId: 'ord_a' }, other)
    ledger.shown(accountId, [shown], 10)
    expect(ledger.take().failures).toEqual({ 'an order that matches no sent change': 1 })
  })

  it('An older version after a newer one and a missing page are failures', () => {
    const ledger = twoVersions()
    ledger.shown('acc_1', [row(2, 'ord_a')], 10)
    ledger.shown('acc_1', [row(1, 'ord_a')], 20)
    ledger.failed('no answer')
    ledger.failed('no answer')
    const failures = { 'an older version after a newer one': 1, 'no answer': 2 }
    expect(ledger.take().failures).toEqual(failures)
  })
})

describe('report', () => {
  function sample(lagsMs: number[], more: Partial<LagSample> = {}): LagSample {
    const counts = [10, 20, 20]
    const metric = [1, 2, Number.POSITIVE_INFINITY].map((le, at) => ({
      le,
      count: counts[at] ?? 0,
    }))
    return {
      ...{ lagsMs: Float64Array.from(lagsMs).sort(), overtaken: 1, missed: 0, failures: {} },
      ...{ perSecond: 500, backlog: 20, metric },
      cpu: { openSearch: 0.5, redis: 0.1, api: 0.2, bench: 0.1, watch: 0.3 },
      ...more,
    }
  }
  const reportOf = (samples: LagSample[], warmUp = sample([60_000])) => {
    const plan = { rate: 500, seconds: 30, orders: 20_000, clockUncertainMs: 0.1 }
    return reportLag({ ...plan, warmUp, samples })
  }

  it('Figures are medians of the rounds in seconds, the maximum of all, and sums of counts', () => {
    const rounds = [sample([1_000, 2_000]), sample([500, 9_000, 1_500]), sample([1_200, 3_000])]
    const { figures, costs } = reportOf(rounds)
    expect(figures).toMatchObject({
      ...{ p50: 1.2, p99: 3, max: 9, shown: 7, overtaken: 3, missed: 0 },
      metric: { changes: 60, p50: 1, p90: 1.8 },
    })
    expect(costs).toEqual({
      ...{ 'p50 lag÷refresh': 1.2, 'p99 lag÷refresh': 3 },
      'CPU watch÷OpenSearch': 0.6,
    })
  })

  it('The table shows the lag of the followers next to that of the metric', () => {
    const [table] = reportOf([sample([1_000, 2_000])]).tables
    expect(table).toContain('The lag at 500 changes a second for 30 s, beside 20000 orders')
    expect(table).toMatch(/^shown +2 +1\.00 +2\.00 +2\.00 +2\.00$/m)
    expect(table).toMatch(/^metric +20 +1\.00 +1\.80 +1\.98 +-$/m)
    expect(reportOf([sample([], { metric: [] })]).tables[0]).toMatch(/^shown +0 +- +- +- +-$/m)
  })

  it('The failures name their round, also that of the warm-up', () => {
    expect(reportOf([sample([1_000])]).failures).toEqual([])
    const rounds = [sample([1]), sample([1], { failures: { 'status 503': 2 } })]
    expect(reportOf(rounds, sample([], { missed: 3 })).failures).toEqual([
      '! lag, warming up: changes that were never shown, 3 times',
      '! lag, round 2: status 503, 2 times',
    ])
  })
})
