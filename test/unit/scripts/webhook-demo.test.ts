import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { describeEvent } from '../../../scripts/webhook-demo/describe-event.ts'
import { demoSteps } from '../../../scripts/webhook-demo/order.ts'
import { type DemoReceiver, startReceiver } from '../../../scripts/webhook-demo/receiver.ts'
import type { WebhookEvent } from '../../../src/client/client.ts'
import { isValidationError, parseChange } from '../../../src/indexing/projection/change.ts'
import { projectOrder } from '../../../src/indexing/projection/order-views.ts'
import { eventExamples } from '../../../src/openapi/webhooks/event-examples.ts'
import { announce } from '../../../src/webhooks/events/announce.ts'
import { type OrderState, stateOf } from '../../../src/webhooks/events/order-state.ts'
import {
  OTHER_SECRET,
  SECRET,
  signDelivery,
} from '../../support/webhooks/sending/signed-delivery.ts'

const NOW_MS = Date.parse('2026-03-01T12:00:00Z')
const example = (type: 'order.paid' | 'order.removed') => eventExamples()[type] as WebhookEvent

describe('the order of the webhook demo', () => {
  it('announces the events that the demo waits for', () => {
    let before: OrderState | null = null
    for (const { source, events } of demoSteps(NOW_MS)) {
      if (source.deleted) {
        expect(events).toEqual(['order.removed'])
        continue
      }
      const [view] = projectOrder(source).views
      if (view === undefined) throw new Error('the order is not visible')
      const after: OrderState = stateOf(view.order, source.payments[0]?.id ?? null)
      expect(announce(before, after, { isViewChanged: true })).toEqual(events)
      before = after
    }
  })

  it('has versions that a load accepts', () => {
    for (const { source } of demoSteps(NOW_MS)) {
      expect(isValidationError(parseChange(JSON.stringify(source)))).toBe(false)
    }
  })
})

describe('an event of the webhook demo', () => {
  it('is one line with its type, its sequence and what changed', () => {
    expect(describeEvent(example('order.paid'))).toBe(
      '  order.paid              sequence 3  status AWAITING_PAYMENT → PAID, payment_status PENDING → PAID',
    )
  })

  it('states that a removal has the id only', () => {
    expect(describeEvent(example('order.removed'))).toContain('only the id: delete your copy')
  })
})

describe('the receiver of the webhook demo', () => {
  const reported: string[] = []
  let receiver: DemoReceiver
  beforeEach(async () => {
    reported.length = 0
    receiver = await startReceiver((line) => reported.push(line))
    receiver.useSecret(SECRET)
  })
  afterEach(() => receiver.close())

  async function deliver(event: WebhookEvent, secret = SECRET): Promise<number> {
    const { headers, body } = signDelivery(event.id, JSON.stringify(event), { secrets: [secret] })
    return (await fetch(receiver.url, { method: 'POST', headers, body })).status
  }
  const next = (count: number) => receiver.next(count, AbortSignal.timeout(10_000))

  it('passes on each verified event once, in the order of arrival', async () => {
    const events = [example('order.paid'), example('order.removed')]
    for (const event of [...events, ...events]) expect(await deliver(event)).toBe(204)
    expect(await next(2)).toEqual(events)
    await expect(receiver.next(1, AbortSignal.abort())).rejects.toThrow()
  })

  it('rejects and reports a webhook with a wrong signature', async () => {
    expect(await deliver(example('order.paid'), OTHER_SECRET)).toBe(400)
    expect(reported).toEqual([expect.stringContaining('rejected: Nenhuma assinatura confere')])
    await expect(receiver.next(1, AbortSignal.abort())).rejects.toThrow()
  })

  it('waits for events that arrive later', async () => {
    const arrived = next(1)
    await deliver(example('order.paid'))
    expect(await arrived).toEqual([example('order.paid')])
  })
})
