import { describe, expect, it } from 'vitest'
import type { BenchChange } from '../../../scripts/bench/lag/changes.ts'
import { createLagLedger } from '../../../scripts/bench/lag/ledger.ts'
import { lagFailures, lagFigures, renderLag } from '../../../scripts/bench/lag/report.ts'
import type { LagSample } from '../../../scripts/bench/lag/round.ts'

const FOLLOWED = ['acc_1', 'acc_2']

function change(serial: number, orderId: string, more: Partial<BenchChange> = {}): BenchChange {
  return { serial, orderId, deleted: false, accountIds: ['acc_1'], json: '{}', ...more }
}
const row = (serial: number, id: string) => ({ id, amount_total: serial })

describe('the ledger of the lag', () => {
  it('counts from the entry of a change until its follower is first shown it', () => {
    const ledger = createLagLedger(FOLLOWED)
    ledger.sent(change(1, 'ord_a'))
    ledger.sent(change(2, 'ord_b'))
    ledger.entered(1, 100)
    ledger.entered(2, 150)
    ledger.shown('acc_1', [row(1, 'ord_a'), row(2, 'ord_b')], 1_100)
    ledger.shown('acc_1', [row(2, 'ord_b')], 1_200)
    expect(ledger.take()).toEqual({
      lagsMs: Float64Array.of(950, 1_000),
      overtaken: 0,
      missed: 0,
      failures: {},
    })
  })

  it('counts a change once for each account that follows it', () => {
    const ledger = createLagLedger(FOLLOWED)
    ledger.sent(change(1, 'ord_a', { accountIds: ['acc_1', 'acc_2', 'acc_other'] }))
    ledger.entered(1, 0)
    ledger.shown('acc_1', [row(1, 'ord_a')], 5)
    expect(ledger.due()).toBe(1)
    ledger.shown('acc_2', [row(1, 'ord_a')], 7)
    expect(ledger.due()).toBe(0)
    expect(ledger.take().lagsMs).toEqual(Float64Array.of(5, 7))
  })

  it('takes the last version of an order that nobody is shown for missed', () => {
    const ledger = createLagLedger(FOLLOWED)
    ledger.sent(change(1, 'ord_a'))
    ledger.sent(change(2, 'ord_a'))
    ledger.entered(1, 0)
    ledger.shown('acc_1', [row(1, 'ord_a')], 10)
    expect(ledger.take()).toMatchObject({ missed: 1, overtaken: 0 })
  })

  it('does not miss a version that was changed again', () => {
    const ledger = createLagLedger(FOLLOWED)
    ledger.sent(change(1, 'ord_a'))
    ledger.sent(change(2, 'ord_a'))
    ledger.entered(2, 0)
    ledger.shown('acc_1', [row(2, 'ord_a')], 10)
    expect(ledger.take()).toMatchObject({ missed: 0, overtaken: 1 })
  })

  it('does not wait for an order that was deleted', () => {
    const ledger = createLagLedger(FOLLOWED)
    ledger.sent(change(1, 'ord_a'))
    ledger.sent(change(2, 'ord_a', { deleted: true }))
    expect(ledger.due()).toBe(0)
    expect(ledger.take()).toMatchObject({ missed: 0, overtaken: 1 })
  })

  it.each([
    ['of another account', 'acc_2', row(1, 'ord_a')],
    ['with the data of another', 'acc_1', row(1, 'ord_b')],
    ['with data that nobody sent', 'acc_1', row(9, 'ord_a')],
  ])('finds fault with an order %s', (_, accountId, shown) => {
    const ledger = createLagLedger(FOLLOWED)
    ledger.sent(change(1, 'ord_a'))
    ledger.sent(change(2, 'ord_b', { accountIds: ['acc_2'] }))
    ledger.shown(accountId, [shown], 10)
    expect(ledger.take().failures).toEqual({
      'an order that is not as any change that was sent': 1,
    })
  })

  it('finds fault with an older version after a newer one', () => {
    const ledger = createLagLedger(FOLLOWED)
    ledger.sent(change(1, 'ord_a'))
    ledger.sent(change(2, 'ord_a'))
    ledger.shown('acc_1', [row(2, 'ord_a')], 10)
    ledger.shown('acc_1', [row(1, 'ord_a')], 20)
    expect(ledger.take().failures).toEqual({ 'an older version after a newer one': 1 })
  })

  it('counts the pages that were not given', () => {
    const ledger = createLagLedger(FOLLOWED)
    ledger.failed('no answer')
    ledger.failed('no answer')
    expect(ledger.take().failures).toEqual({ 'no answer': 2 })
  })

  it('counts nothing twice', () => {
    const ledger = createLagLedger(FOLLOWED)
    ledger.sent(change(1, 'ord_a'))
    ledger.sent(change(2, 'ord_b'))
    ledger.entered(1, 0)
    ledger.shown('acc_1', [row(1, 'ord_a')], 10)
    ledger.failed('no answer')
    ledger.take()
    ledger.shown('acc_1', [row(1, 'ord_a')], 20)
    const nothing = { lagsMs: new Float64Array(), overtaken: 0, missed: 0, failures: {} }
    expect(ledger.take()).toEqual(nothing)
  })
})

function sample(lagsMs: number[], more: Partial<LagSample> = {}): LagSample {
  return {
    lagsMs: Float64Array.from(lagsMs).sort(),
    overtaken: 1,
    missed: 0,
    failures: {},
    perSecond: 500,
    backlog: 20,
    metric: [
      { le: 1, count: 10 },
      { le: 2, count: 20 },
      { le: Number.POSITIVE_INFINITY, count: 20 },
    ],
    cpu: { openSearch: 0.5, redis: 0.1, api: 0.2, bench: 0.1, watch: 0.3 },
    ...more,
  }
}

function compared(samples: LagSample[]) {
  const warmUp = sample([60_000])
  return { rate: 500, seconds: 30, orders: 20_000, clockUncertainMs: 0.1, warmUp, samples }
}

describe('the figures of the lag', () => {
  it('are medians of the rounds in seconds, the greatest of all, and sums', () => {
    const rounds = [sample([1_000, 2_000]), sample([500, 9_000, 1_500]), sample([1_200, 3_000])]
    expect(lagFigures(compared(rounds))).toMatchObject({
      p50: 1.2,
      p99: 3,
      max: 9,
      shown: 7,
      overtaken: 3,
      missed: 0,
      metric: { changes: 60, p50: 1, p90: 1.8 },
    })
  })

  it('are rendered beside what the metric tells', () => {
    const table = renderLag(compared([sample([1_000, 2_000])]))
    expect(table).toContain('The lag at 500 changes a second for 30 s, beside 20000 orders')
    expect(table).toMatch(/^shown +2 +1\.00 +2\.00 +2\.00 +2\.00$/m)
    expect(table).toMatch(/^metric +20 +1\.00 +1\.80 +1\.98 +-$/m)
  })

  it('are none where nothing was shown', () => {
    expect(renderLag(compared([sample([], { metric: [] })]))).toMatch(/^shown +0 +- +- +- +-$/m)
  })
})

describe('the failures of the lag', () => {
  it('are none where all was shown as it should be', () => {
    expect(lagFailures(compared([sample([1_000])]))).toEqual([])
  })

  it('name the round, the first one to warm up too', () => {
    const bad = { ...compared([sample([1]), sample([1], { failures: { 'status 503': 2 } })]) }
    bad.warmUp = sample([], { missed: 3 })
    expect(lagFailures(bad)).toEqual([
      '! lag, warming up: changes that were never shown, 3 times',
      '! lag, round 2: status 503, 2 times',
    ])
  })
})
