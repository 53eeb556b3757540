import { describe, expect, it } from 'vitest'
import { createWebhookManagement } from '../../../../src/webhooks/management/webhook-management.ts'
import { eventually, openDispatching, quietPeriod } from '../../../support/webhooks/dispatching.ts'
import { useWebhookStores } from '../webhook-stores-under-test.ts'

describe.each(useWebhookStores())('while the circuit breaker is open on %s', (_name, open) => {
  it('a resend and a test wait for the probes, until the endpoint is enabled again', async () => {
    const dispatching = await openDispatching(open)
    const { clock } = dispatching.time
    const { receiver, stores } = dispatching
    const management = createWebhookManagement({
      ...{ webhooks: stores, clock, allow: [], retentionMs: 86_400_000 },
      orders: { get: async () => Buffer.from('{}') },
      secrets: () => [{ kid: 'k1', secret: Buffer.alloc(32) }],
    })
    // The next probe is an hour later.
    receiver.reply = () => ({ status: 503, headers: { 'retry-after': '3600' } })
    const { id } = await dispatching.subscribe({ isBreakerOpen: true, failingSince: clock() })
    dispatching.start()
    await dispatching.announce('ord_1')
    await eventually(async () => {
      const [first] = await dispatching.deliveries(id)
      expect(first?.attempts).toHaveLength(1)
    })
    receiver.reply = () => ({ status: 200 })
    const [failed] = await dispatching.deliveries(id)
    await management.resend({ id: failed?.id ?? '' })
    await management.sendTest({ id })
    await dispatching.changesApplied()
    await quietPeriod()
    expect(receiver.received).toHaveLength(1)
    await management.enableEndpoint({ id })
    await eventually(async () => {
      const states = (await dispatching.deliveries(id)).map(({ state }) => state)
      expect(states).toEqual(['delivered', 'delivered'])
    })
  })
})
