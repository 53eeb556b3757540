import { describe, expect, it } from 'vitest'
import {
  type AccountEvent,
  accountEvents,
  type EventRecord,
  firstSequence,
  lastSequence,
  withoutStates,
} from '../../../../src/webhooks/events/event-record.ts'

const RECORDED_AT = Date.parse('2026-03-01T12:00:00Z')

const PAID = {
  status: 'PAID',
  payment_status: 'PAID',
  last_payment_id: 'pay_1',
  amount_refunded: null,
  decline_code: null,
} as const

const AWAITING = { ...PAID, status: 'AWAITING_PAYMENT', payment_status: 'PENDING' } as const

/** `acc_2` joins in the version that is paid. */
const record: EventRecord = {
  orderId: 'ord_1',
  version: 2,
  recordedAt: RECORDED_AT,
  before: AWAITING,
  after: PAID,
  accountIds: ['acc_1', 'acc_2'],
  digests: {},
  events: [
    { sequence: 3, type: 'order.created', accountIds: ['acc_2'] },
    { sequence: 4, type: 'order.paid', accountIds: ['acc_1', 'acc_2'] },
  ],
}

describe('the events of a record', () => {
  it('an account receives an event for each type that concerns it', () => {
    const events = accountEvents(record).map(({ accountId, type, sequence }) => {
      return [accountId, type, sequence]
    })
    expect(events).toEqual([
      ['acc_2', 'order.created', 3],
      ['acc_1', 'order.paid', 4],
      ['acc_2', 'order.paid', 4],
    ])
  })

  it('all events of an account carry the same change', () => {
    const [created, , paid] = accountEvents(record)
    expect(created?.change).toEqual(paid?.change)
  })

  it('a key that an earlier release did not record is in no change', () => {
    const { decline_code: _after, ...after } = PAID
    const { decline_code: _before, ...before } = AWAITING
    const earlier = { ...record, before, after } as EventRecord
    expect(Object.keys(accountEvents(earlier)[1]?.change ?? {})).toEqual([
      'status',
      'payment_status',
    ])
  })

  it('the change names each announced key that differs', () => {
    expect(accountEvents(record)[1]?.change).toEqual({
      status: ['AWAITING_PAYMENT', 'PAID'],
      payment_status: ['PENDING', 'PAID'],
    })
  })

  it('the change of a first view starts at null', () => {
    expect(accountEvents(record)[0]?.change).toEqual({
      status: [null, 'PAID'],
      payment_status: [null, 'PAID'],
      last_payment_id: [null, 'pay_1'],
    })
  })

  it.each(['order.updated', 'order.removed'] as const)('%s carries no change', (type) => {
    const events = [{ sequence: 1, type, accountIds: ['acc_1'] }]
    expect(accountEvents({ ...record, events })[0]?.change).toEqual({})
  })

  it('an id is stable, and belongs to one account and sequence', () => {
    const ids = accountEvents(record).map(({ id }) => id)
    expect(new Set(ids).size).toBe(3)
    expect(accountEvents(structuredClone(record)).map(({ id }) => id)).toEqual(ids)
    expect(ids[0]).toMatch(/^evt_[0-9A-Za-z]{24}$/)
  })

  it('a record made again after a loss has other ids', () => {
    const again = accountEvents({ ...record, recordedAt: RECORDED_AT + 1 })
    expect(again[0]?.id).not.toBe(accountEvents(record)[0]?.id)
  })

  it('its sequences are known by the first and the last', () => {
    expect([firstSequence(record), lastSequence(record)]).toEqual([3, 4])
  })
})

it('the record of an erased order keeps its events under their ids, without any state', () => {
  const kept = withoutStates({ ...record, digests: { acc_1: '1:digest' } })
  expect(JSON.stringify(kept)).not.toMatch(/PAID|PENDING|pay_1|digest"/)
  const withoutChange = (event: AccountEvent) => ({ ...event, change: {} })
  expect(accountEvents(kept)).toEqual(accountEvents(record).map(withoutChange))
})
