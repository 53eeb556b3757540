import { describe, expect, it } from 'vitest'
import { MAX_LIST_ITEMS } from '../../../../src/http/management/list-page.ts'
import { DAY_MS, HOUR_MS } from '../../../../src/lib/durations.ts'
import { type DeliveryState, FAILED_STATES } from '../../../../src/webhooks/deliveries/delivery.ts'
import { deliveryId } from '../../../../src/webhooks/deliveries/delivery-id.ts'
import type { DeliveryStore } from '../../../../src/webhooks/deliveries/delivery-store.ts'
import {
  createDeliveryOperations,
  MAX_LISTED_DELIVERIES,
} from '../../../../src/webhooks/management/delivery-operations.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import { attempt } from '../../../support/webhooks/delivery.ts'
import { withDeliveries } from '../../../support/webhooks/stores/stubbed-stores.ts'
import { NOW, useManagement, withCode } from './management.ts'

const test = useManagement()

const failed = { state: 'expired', nextAt: null, step: 16, firstFailedAt: NOW - DAY_MS } as const
const recordedAt = NOW - HOUR_MS

/** The operations on a store of which some calls are replaced. */
function operations(changes: Partial<DeliveryStore>) {
  return createDeliveryOperations({
    ...withDeliveries(test.services.webhooks, changes),
    orders: test.services.orders,
    retentionMs: DAY_MS,
    clock: () => NOW,
  })
}

describe('sendTest', () => {
  it('creates a delivery of type webhook.test without an order, due at once', async () => {
    const { id } = await test.endpoint()
    const sent = await test.management.sendTest({ id })
    expect(sent).toEqual({
      id: deliveryId(sent.event, id),
      endpointId: id,
      accountId: 'acc_1',
      event: {
        id: expect.stringMatching(/^evt_[0-9A-Za-z]{24}$/),
        type: 'webhook.test',
        accountId: 'acc_1',
        orderId: null,
        sequence: null,
        recordedAt: NOW,
        change: {},
      },
      state: 'pending',
      nextAt: NOW,
      attempts: [],
      step: 0,
      firstFailedAt: null,
      heldAt: null,
    })
    expect(await test.delivery(sent.id)).toEqual(sent)
  })

  it('sends another event each time', async () => {
    const { id } = await test.endpoint()
    const [one, other] = [
      await test.management.sendTest({ id }),
      await test.management.sendTest({ id }),
    ]
    expect(one.event.id).not.toBe(other.event.id)
  })

  it('is refused for a disabled endpoint, and names the reason', async () => {
    const { id } = await test.endpoint({ disabledReason: 'gone' })
    const sent = test.management.sendTest({ id })
    await expect(sent).rejects.toThrow(withCode('endpoint_disabled'))
    await expect(sent).rejects.toThrow('disabled (gone)')
    expect(await test.management.listDeliveries({ id })).toEqual([])
  })
})

describe('awaitAttempt', () => {
  // Time stands still, so only an attempt ends a wait.
  const wait = (timeoutMs: number) => ({ timeoutMs, monotonic: () => 0 })

  it.each([
    ['delivered', attempt({ status: 204, error: null })],
    ['pending', attempt()],
  ] as const)('returns the delivery, %s, once another attempt was made', async (state, made) => {
    const sent = await test.deliver(await test.endpoint(), { attempts: [attempt({ at: 1 })] })
    const waiting = test.management.awaitAttempt(sent, wait(30_000))
    const { deliveries } = test.services.webhooks
    const stored = await deliveries.byId(sent.id)
    if (stored === null) throw new Error('expected the delivery')
    const nextAt = state === 'pending' ? NOW : null
    const attempts = [...stored.attempts, made]
    await deliveries.save([{ ...stored, state, nextAt, attempts }])
    expect(await waiting).toMatchObject({ state, attempts })
  })

  it('returns the pending delivery after the wait', async () => {
    const sent = await test.deliver(await test.endpoint())
    expect(await test.management.awaitAttempt(sent, wait(0))).toMatchObject({ state: 'pending' })
  })

  it('ends when it is interrupted', async () => {
    const sent = await test.deliver(await test.endpoint())
    const signal = AbortSignal.abort()
    const waiting = test.management.awaitAttempt(sent, { ...wait(30_000), signal })
    await expect(waiting).rejects.toThrow('interrupted while waiting for the attempt')
  })
})

describe('listDeliveries', () => {
  async function threeDeliveries() {
    const endpoint = await test.endpoint()
    const states: DeliveryState[] = ['failed', 'delivered', 'expired']
    for (const [at, state] of states.entries()) {
      const event = { sequence: at + 1, recordedAt: NOW + at }
      await test.deliver(endpoint, { event, state, nextAt: null })
    }
    return { id: endpoint.id }
  }
  const sequences = (deliveries: readonly { event: { sequence: number | null } }[]) =>
    deliveries.map(({ event }) => event.sequence)

  it('returns the newest first, at most the limit', async () => {
    const target = await threeDeliveries()
    expect(sequences(await test.management.listDeliveries(target))).toEqual([3, 2, 1])
    const [newest] = await test.management.listDeliveries(target, { limit: 1 })
    expect(newest?.event.sequence).toBe(3)
  })

  it('returns what failed or expired alone', async () => {
    const target = await threeDeliveries()
    const deliveries = await test.management.listDeliveries(target, { states: FAILED_STATES })
    expect(sequences(deliveries)).toEqual([3, 1])
  })

  it('accepts a page of the management API and one more', async () => {
    const listed = test.management.listDeliveries(await test.endpoint(), {
      limit: MAX_LIST_ITEMS + 1,
    })
    expect(await listed).toEqual([])
  })

  it.each([0, -1, 1.5, MAX_LISTED_DELIVERIES + 1, Number.NaN])(
    'rejects the limit %d',
    async (limit) => {
      const listed = test.management.listDeliveries(await test.endpoint(), { limit })
      await expect(listed).rejects.toThrow(withCode('invalid_limit'))
    },
  )
})

describe('resend', () => {
  it('makes a delivery due at once with a new schedule, and keeps its event and attempts', async () => {
    await test.write(sourceOrder())
    const sent = await test.deliver(await test.endpoint(), { ...failed, attempts: [attempt()] })
    const resent = await test.management.resend({ id: sent.id })
    const due = { ...sent, state: 'pending', nextAt: NOW, step: 0, firstFailedAt: null }
    expect(resent).toMatchObject(due)
    expect(await test.delivery(sent.id)).toEqual(due)
  })

  it.each(['pending', 'delivered', 'failed', 'canceled', 'held'] as const)(
    'sends a delivery that is %s',
    async (state) => {
      await test.write(sourceOrder())
      const heldAt = state === 'held' ? NOW : null
      const nextAt = state === 'pending' ? NOW + HOUR_MS : null
      const sent = await test.deliver(await test.endpoint(), { state, nextAt, heldAt })
      expect(await test.management.resend({ id: sent.id })).toMatchObject({
        state: 'pending',
        // A later event of its order may wait for a pending one.
        nextAt: state === 'pending' ? sent.event.recordedAt : NOW,
        heldAt: null,
      })
    },
  )

  it('is refused for an order that the account no longer has', async () => {
    await test.write(sourceOrder({ owner_account_id: 'acc_2' }))
    const sent = await test.deliver(await test.endpoint(), failed)
    const resent = test.management.resend({ id: sent.id })
    await expect(resent).rejects.toThrow(withCode('order_removed'))
    expect(await test.delivery(sent.id)).toEqual(sent)
  })

  it('sends the removal of an order, which has only its id', async () => {
    const event = { type: 'order.removed' } as const
    const sent = await test.deliver(await test.endpoint(), { ...failed, event })
    expect(await test.management.resend({ id: sent.id })).toMatchObject({ state: 'pending' })
  })

  it('sends a test, which concerns no order', async () => {
    const { id } = await test.management.sendTest(await test.endpoint())
    test.setNow(NOW + 1)
    expect(await test.management.resend({ id })).toMatchObject({ nextAt: NOW + 1 })
  })

  it('is refused for a disabled endpoint', async () => {
    await test.write(sourceOrder())
    const endpoint = await test.endpoint()
    const sent = await test.deliver(endpoint, failed)
    await test.management.disableEndpoint(endpoint)
    const resent = test.management.resend({ id: sent.id })
    await expect(resent).rejects.toThrow(withCode('endpoint_disabled'))
    expect(await test.delivery(sent.id)).toEqual(sent)
  })

  it('is refused for a deleted endpoint', async () => {
    await test.write(sourceOrder())
    const endpoint = await test.endpoint()
    const sent = await test.deliver(endpoint, failed)
    await test.management.deleteEndpoint(endpoint)
    const resent = test.management.resend({ id: sent.id })
    await expect(resent).rejects.toThrow(withCode('endpoint_deleted'))
  })

  it("does not find an unknown delivery, nor another account's", async () => {
    const { management } = test
    const sent = await test.deliver(await test.endpoint(), failed)
    for (const target of [{ id: 'dlv_none' }, { id: sent.id, accountId: 'acc_2' }]) {
      await expect(management.resend(target)).rejects.toThrow(withCode('delivery_missing'))
    }
  })

  it('repeats a save that the dispatcher overtook', async () => {
    await test.write(sourceOrder())
    const sent = await test.deliver(await test.endpoint(), failed)
    const { deliveries } = test.services.webhooks
    let overtaken = 0
    const { resend } = operations({
      async byId(id) {
        const read = await deliveries.byId(id)
        if (read !== null && overtaken < 1) {
          overtaken += 1
          await deliveries.save([{ ...read, attempts: [attempt()] }])
        }
        return read
      },
    })
    expect(await resend({ id: sent.id })).toMatchObject({
      state: 'pending',
      attempts: [attempt()],
    })
  })

  it('ends with a conflict when every save is overtaken', async () => {
    await test.write(sourceOrder())
    const sent = await test.deliver(await test.endpoint(), failed)
    const { resend } = operations({ save: async () => [null] })
    const resent = resend({ id: sent.id })
    await expect(resent).rejects.toThrow(withCode('delivery_busy'))
  })
})

describe('replay', () => {
  async function completed() {
    const endpoint = await test.endpoint()
    const at = (sequence: number, state: DeliveryState, recorded = recordedAt) =>
      test.deliver(endpoint, { event: { sequence, recordedAt: recorded }, state, nextAt: null })
    await at(1, 'delivered', recordedAt - 1)
    await at(2, 'delivered')
    await at(3, 'expired')
    return endpoint
  }

  async function pending(id: string) {
    const deliveries = await test.management.listDeliveries({ id })
    return deliveries
      .filter(({ state }) => state === 'pending')
      .map(({ event }) => event.sequence)
      .toSorted()
  }

  it('makes the events since an instant due again', async () => {
    const { id } = await completed()
    expect(await test.management.replay({ id }, { sinceMs: recordedAt })).toBe(2)
    expect(await pending(id)).toEqual([2, 3])
  })

  it('makes what failed or expired due again alone', async () => {
    const { id } = await completed()
    const options = { sinceMs: recordedAt - HOUR_MS, failedOnly: true }
    expect(await test.management.replay({ id }, options)).toBe(1)
    expect(await pending(id)).toEqual([3])
  })

  it.each([
    ['in the future', NOW + 1, /in the future/],
    [
      'before the oldest delivery kept',
      NOW - 30 * DAY_MS - 1,
      /30 days \(WEBHOOK_RETENTION_DAYS\)/,
    ],
  ])('rejects a start %s, and replays nothing', async (_name, sinceMs, message) => {
    const { id } = await completed()
    const replayed = test.management.replay({ id }, { sinceMs })
    await expect(replayed).rejects.toThrow(withCode('invalid_since'))
    await expect(replayed).rejects.toThrow(message)
    expect(await pending(id)).toEqual([])
  })

  it.each([
    ['now', NOW],
    ['the oldest delivery kept', NOW - 30 * DAY_MS],
  ])('accepts %s as its start', async (_name, sinceMs) => {
    const { id } = await completed()
    expect(await test.management.replay({ id }, { sinceMs })).toBe(sinceMs === NOW ? 0 : 3)
  })

  it('is refused for a disabled endpoint', async () => {
    const { id } = await completed()
    await test.management.disableEndpoint({ id })
    const replayed = test.management.replay({ id }, { sinceMs: recordedAt })
    await expect(replayed).rejects.toThrow(withCode('endpoint_disabled'))
    expect(await pending(id)).toEqual([])
  })
})

describe('a change of deliveries', () => {
  it.each([
    ['sendTest', (id: string) => test.management.sendTest({ id })],
    ['replay', (id: string) => test.management.replay({ id }, { sinceMs: recordedAt })],
    [
      'resend',
      async (id: string) => {
        const [delivery] = await test.management.listDeliveries({ id })
        return test.management.resend({ id: delivery?.id ?? '' })
      },
    ],
  ])('%s shows the endpoint to the dispatcher again', async (_name, work) => {
    await test.write(sourceOrder())
    const endpoint = await test.endpoint()
    await test.deliver(endpoint, failed)
    const { token } = await test.changesSince(null)
    await work(endpoint.id)
    expect((await test.changesSince(token)).ids).toEqual([endpoint.id])
  })
})
