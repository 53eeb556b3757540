import { describe, expect, it } from 'vitest'
import { planDeliveries } from '../../../../src/webhooks/deliveries/plan-deliveries.ts'
import type { Endpoint } from '../../../../src/webhooks/endpoints/endpoint.ts'
import type { EventRecord } from '../../../../src/webhooks/events/event-record.ts'
import { endpoint } from '../../../support/webhooks/endpoint.ts'
import { eventRecord } from '../../../support/webhooks/event-record.ts'

const NOW = 20_000

function plan(records: readonly EventRecord[], ...endpoints: Endpoint[]) {
  return planDeliveries(records, {
    endpointsOf: (accountId) => endpoints.filter((candidate) => candidate.accountId === accountId),
    nowMs: NOW,
    firstDelayMs: 0,
  })
}

const removed = (orderId: string, sequence: number) =>
  eventRecord(orderId, sequence, {
    after: null,
    events: [{ sequence, type: 'order.removed', accountIds: ['acc_1'] }],
  })

describe('the deliveries of event records', () => {
  it('each matching endpoint of the account has one, pending and due', () => {
    const { deliveries } = plan(
      [eventRecord('ord_1', 1)],
      endpoint({ id: 'we_1' }),
      endpoint({ id: 'we_2' }),
      endpoint({ id: 'we_3', accountId: 'acc_2' }),
    )
    expect(deliveries.map(({ endpointId }) => endpointId)).toEqual(['we_1', 'we_2'])
    expect(deliveries[0]).toMatchObject({ state: 'pending', nextAt: 10_000, step: 0, attempts: [] })
  })

  it('the same event and endpoint have the same id, others have another', () => {
    const records = [eventRecord('ord_1', 1), eventRecord('ord_1', 2)]
    const endpoints = [endpoint({ id: 'we_1' }), endpoint({ id: 'we_2' })] as const
    const ids = plan(records, ...endpoints).deliveries.map(({ id }) => id)
    expect(plan(records, ...endpoints).deliveries.map(({ id }) => id)).toEqual(ids)
    expect(new Set(ids).size).toBe(4)
    expect(ids[0]).toMatch(/^dlv_[0-9a-f]{32}$/)
  })

  it.each([
    ['of a type that the endpoint selects', { events: ['order.paid'] as const }, 1],
    ['of another type', { events: ['order.refunded'] as const }, 0],
    ['recorded when the endpoint was created', { createdAt: 10_000 }, 1],
    ['recorded between creation and the promised start', { createdAt: 9_999, startsAt: 14_999 }, 1],
    ['recorded before the endpoint was created', { createdAt: 10_001 }, 0],
  ])('an event %s', (_name, changes, count) => {
    expect(plan([eventRecord('ord_1', 1)], endpoint(changes)).deliveries).toHaveLength(count)
  })

  it('a disabled endpoint holds its deliveries', () => {
    const { deliveries } = plan([eventRecord('ord_1', 1)], endpoint({ disabledReason: 'manual' }))
    expect(deliveries).toMatchObject([{ state: 'held', nextAt: null, heldAt: NOW }])
  })

  it('a record of a writer whose clock is ahead is due now', () => {
    const { deliveries } = plan([eventRecord('ord_1', 1, { recordedAt: 30_000 })], endpoint())
    expect(deliveries).toMatchObject([{ nextAt: NOW }])
  })

  it('the first delay of the schedule makes it due later', () => {
    const { deliveries } = planDeliveries([eventRecord('ord_1', 1)], {
      endpointsOf: () => [endpoint()],
      nowMs: NOW,
      firstDelayMs: 3_000,
    })
    expect(deliveries).toMatchObject([{ nextAt: 13_000 }])
  })

  it('a removal cancels the events before it, which keep no change', () => {
    const { deliveries, removals } = plan(
      [eventRecord('ord_1', 1), removed('ord_1', 2), eventRecord('ord_1', 3)],
      endpoint(),
    )
    expect(deliveries).toMatchObject([
      { state: 'canceled', nextAt: null, event: { sequence: 1, change: {} } },
      { state: 'pending', event: { sequence: 2, type: 'order.removed' } },
      { state: 'pending', event: { sequence: 3 } },
    ])
    expect(removals).toMatchObject([{ accountId: 'acc_1', orderId: 'ord_1', sequence: 2 }])
  })

  it('a removal cancels earlier events also where sequences started again after a loss', () => {
    const { deliveries } = plan(
      [{ ...removed('ord_1', 2), recordedAt: 12_000 }, eventRecord('ord_1', 9)],
      endpoint(),
    )
    expect(deliveries).toMatchObject([
      { state: 'pending', event: { type: 'order.removed' } },
      { state: 'canceled', event: { sequence: 9, change: {} } },
    ])
  })

  it('a removal of before a loss cancels no event of an order that returned after it', () => {
    const { deliveries } = plan(
      [
        eventRecord('ord_1', 1, { recordedAt: 11_000 }),
        { ...removed('ord_1', 2), recordedAt: 12_000 },
        eventRecord('ord_1', 3, { recordedAt: 13_000 }),
        removed('ord_1', 12),
      ],
      endpoint(),
    )
    expect(deliveries.map(({ state }) => state)).toEqual([
      'canceled',
      'pending',
      'pending',
      'canceled',
    ])
  })

  it('a removal concerns its own order and account', () => {
    const other = eventRecord('ord_1', 1, {
      events: [{ sequence: 1, type: 'order.paid', accountIds: ['acc_2'] }],
    })
    const { deliveries } = plan(
      [eventRecord('ord_2', 1), other, removed('ord_1', 2)],
      endpoint(),
      endpoint({ id: 'we_2', accountId: 'acc_2' }),
    )
    expect(deliveries.map(({ state }) => state)).toEqual(['pending', 'pending', 'pending'])
  })
})
