import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scenarioOrder } from '../../../../src/demo/demo-orders.ts'
import { isValidationError, parseChange } from '../../../../src/indexing/projection/change.ts'
import { lastPayment } from '../../../../src/indexing/projection/payment.ts'
import type { SourceOrder } from '../../../../src/indexing/projection/source-order.ts'
import {
  MAX_PAYMENTS,
  moveOrder,
  possibleMoves,
  type SandboxMove,
} from '../../../../src/management/sandbox/sandbox-moves.ts'
import { sandboxScenarios } from '../../../../src/management/sandbox/sandbox-scenarios.ts'
import type { Order } from '../../../../src/orders/order.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const OWNER = 'acc_1.test'

function orderOf(name: string, seed = 1): SourceOrder {
  const scenario = sandboxScenarios.find(({ id }) => id === name)
  if (scenario === undefined) throw new Error(`no scenario ${name}`)
  const id = 'ord_test_1'
  return scenarioOrder({ scenario: scenario.demo, id, ownerAccountId: OWNER, seed, until: NOW })
}

/** The order after these moves, a minute apart. */
function orderAfter(name: string, ...moves: SandboxMove[]): SourceOrder {
  return moves.reduce((order, move, place) => {
    const moved = moveOrder(order, move, NOW + (place + 1) * 60_000)
    if (moved.deleted === true) throw new Error('the order is erased')
    return moved
  }, orderOf(name))
}

/** The order as the sandbox's key reads it. */
function publicOrder(source: SourceOrder): Order {
  const change = parseChange(JSON.stringify(source))
  if (isValidationError(change)) throw new Error(`${change.path} ${change.reason}`)
  const [view, ...others] = change.views
  expect(others).toEqual([])
  expect(view?.accountId).toBe(OWNER)
  return view?.order as Order
}

const possible: [scenario: string, moves: SandboxMove[]][] = [
  ['pix_awaiting', ['pay', 'decline', 'erase']],
  ['pix_paid', ['refund', 'dispute', 'erase']],
  ['pix_expired', ['pay', 'erase']],
  ['boleto_awaiting', ['pay', 'decline', 'erase']],
  ['card_paid', ['refund', 'dispute', 'erase']],
  ['card_declined', ['pay', 'decline', 'erase']],
  ['split_awaiting', ['pay', 'cancel', 'erase']],
  ['split_canceled', ['erase']],
  ['subscription', ['decline', 'renew', 'refund', 'dispute', 'erase']],
  ['renewal_declined', ['pay', 'decline', 'cancel', 'erase']],
  ['subscription_canceled', ['erase']],
  ['trial', ['pay', 'decline', 'cancel', 'erase']],
  ['smart_installments', ['pay', 'decline', 'erase']],
  ['partial_refund', ['refund', 'dispute', 'erase']],
  ['refund', ['erase']],
  ['dispute', ['win', 'erase']],
  ['dispute_won', ['refund', 'dispute', 'erase']],
]

const moved: [scenario: string, moves: SandboxMove[], status: string, payment: string][] = [
  ['pix_awaiting', ['pay'], 'PAID', 'PAID'],
  ['pix_awaiting', ['decline'], 'UNPAID', 'UNPAID'],
  ['pix_awaiting', ['decline', 'pay'], 'PAID', 'PAID'],
  ['boleto_awaiting', ['pay', 'refund'], 'REFUNDED', 'REFUNDED'],
  ['card_declined', ['decline'], 'UNPAID', 'DECLINED'],
  ['card_declined', ['pay', 'dispute'], 'DISPUTED', 'DISPUTED'],
  ['card_paid', ['dispute', 'win'], 'PAID', 'PAID'],
  ['partial_refund', ['dispute', 'win'], 'PAID', 'PARTIALLY_REFUNDED'],
  ['split_awaiting', ['pay'], 'PAID', 'PAID'],
  ['split_awaiting', ['cancel'], 'CANCELED', 'UNPAID'],
  ['subscription', ['renew', 'decline'], 'UNPAID', 'DECLINED'],
  ['subscription', ['decline', 'pay', 'renew'], 'PAID', 'PAID'],
  ['subscription', ['decline', 'cancel'], 'UNPAID', 'DECLINED'],
  ['trial', ['pay', 'renew'], 'PAID', 'PAID'],
  ['trial', ['decline'], 'UNPAID', 'DECLINED'],
  ['trial', ['cancel'], 'UNPAID', 'TRIAL'],
]

describe('the moves of a sandbox order', () => {
  it.each(possible)('an order of %s allows %j', (name, moves) => {
    expect(possibleMoves(orderOf(name))).toEqual(moves)
  })

  it.each(moved)('an order of %s after %j has the status %s and the payment %s', (...row) => {
    const [name, moves, status, payment] = row
    expect(publicOrder(orderAfter(name, ...moves))).toMatchObject({
      status,
      payment: { status: payment },
    })
  })

  it('a renewal enters the same order as its last payment', () => {
    const [before, renewed] = [orderOf('subscription'), orderAfter('subscription', 'renew')]
    expect(renewed.payments).toHaveLength(before.payments.length + 1)
    expect(renewed.paid_at).toBe(before.paid_at)
    expect(lastPayment(renewed.payments).id).not.toBe(lastPayment(before.payments).id)
  })

  it.each<[string, SandboxMove, SandboxMove[]]>([
    ['subscription', 'renew', ['refund', 'dispute', 'erase']],
    ['card_declined', 'decline', ['erase']],
    ['renewal_declined', 'decline', ['cancel', 'erase']],
  ])('an order of %s with the most payments allows no further %s', (name, move, rest) => {
    const { length } = orderOf(name).payments
    const charges = Array.from({ length: MAX_PAYMENTS - length }, () => move)
    const full = orderAfter(name, ...charges)
    expect(full.payments).toHaveLength(MAX_PAYMENTS)
    expect(possibleMoves(full)).toEqual(rest)
  })

  it('a canceled split payment returns its paid parts', () => {
    const { payments, canceled_at } = orderAfter('split_awaiting', 'cancel')
    expect(payments.slice(0, -1).every(({ status }) => status === 'REFUNDED')).toBe(true)
    expect(canceled_at).not.toBeNull()
  })

  it('an erased order has neither buyer nor moves', () => {
    const erased = moveOrder(orderOf('pix_paid'), 'erase', NOW)
    const id = 'ord_test_1'
    expect(erased).toEqual({ id, version: 2, owner_account_id: OWNER, deleted: true })
    expect(possibleMoves(erased)).toEqual([])
  })

  it('an impossible move changes nothing', () => {
    expect(() => moveOrder(orderOf('refund'), 'pay', NOW)).toThrow('impossible')
  })
})

describe('every order that moves lead to', () => {
  const lives = fc.record({
    seed: fc.nat(),
    scenario: fc.constantFrom(...sandboxScenarios.map(({ id }) => id)),
    picks: fc.array(fc.nat(), { maxLength: 8 }),
  })

  it('is valid, and coherent with the contract', () => {
    fc.assert(
      fc.property(lives, ({ seed, scenario, picks }) => {
        let order = orderOf(scenario, seed)
        assertCoherent(order)
        for (const pick of picks) {
          const moves = possibleMoves(order).filter((move) => move !== 'erase')
          const move = moves[pick % moves.length]
          if (move === undefined) return
          // The clock stands still, as in two moves of one millisecond.
          const next = moveOrder(order, move, NOW)
          if (next.deleted === true) return
          expect(next).toMatchObject({ version: order.version + 1, created_at: order.created_at })
          order = next
          assertCoherent(order)
        }
      }),
      { numRuns: 500 },
    )
  })
})

function assertCoherent(source: SourceOrder): void {
  const { status, payment, ...order } = publicOrder(source)
  const charged = source.payments.filter((one) => one.status !== 'DECLINED')
  const ids = source.payments.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(payment.decline_code !== null).toBe(payment.status === 'DECLINED')
  if (status === 'AWAITING_PAYMENT') expect(payment.status).toBe('PENDING')
  if (status === 'PAID') {
    expect(['PAID', 'PARTIALLY_REFUNDED']).toContain(payment.status)
    expect(order.paid_at).not.toBeNull()
  }
  if (status === 'UNPAID') expect(['DECLINED', 'UNPAID', 'TRIAL']).toContain(payment.status)
  if (status === 'REFUNDED') {
    expect(payment).toMatchObject({ status: 'REFUNDED', refunded_at: expect.any(String) })
    expect(payment.amount_refunded).toBe(payment.amount)
  }
  if (status === 'DISPUTED') {
    expect(charged.some((one) => one.status === 'PAID')).toBe(false)
    expect(payment.status).toBe('DISPUTED')
  }
  if (status === 'CANCELED') expect(order.canceled_at).not.toBeNull()
  if (status === 'TRIAL') expect([order.amount_total, payment.amount]).toEqual([0, 0])
  const changedAt = Date.parse(source.changed_at ?? '')
  const instants = source.payments.map(({ created_at }) => Date.parse(created_at))
  expect(Math.max(...instants)).toBeLessThanOrEqual(changedAt)
}
