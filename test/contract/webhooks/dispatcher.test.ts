import { describe, expect, it, vi } from 'vitest'
import { openDispatching } from '../../support/webhooks/dispatching.ts'
import { webhookStores } from './webhook-stores-under-test.ts'

describe.each(webhookStores)('the dispatcher on %s', (_name, open) => {
  it('it sends an event once, and stores the 2xx', async () => {
    const dispatching = await openDispatching(open)
    const { id } = await dispatching.subscribe()
    dispatching.start()
    await dispatching.announce('ord_1')
    await vi.waitFor(async () =>
      expect(await dispatching.deliveries(id)).toMatchObject([
        { state: 'delivered', nextAt: null, attempts: [{ status: 200, error: null }] },
      ]),
    )
    expect(dispatching.receiver.received).toHaveLength(1)
  })
})
