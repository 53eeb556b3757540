import { expect, it } from 'vitest'
import { eventually, openDispatching, quietPeriod } from '../../../support/webhooks/dispatching.ts'
import { openSender } from '../../../support/webhooks/sending/sender.ts'
import { useWebhookStores } from '../webhook-stores-under-test.ts'

it.each(useWebhookStores())(
  'an attempt that a stop ends is repeated under the same webhook-id on %s',
  async (_name, open) => {
    const dispatching = await openDispatching(open)
    const { id } = await dispatching.subscribe()
    const { receiver } = dispatching
    receiver.reply = () => null
    const sender = openSender()
    const first = dispatching.start({ sender, settings: { stopMs: 10 } })
    await dispatching.announce('ord_1')
    await eventually(() => expect(receiver.received).toHaveLength(1))
    await first.stop()
    await sender.close(0)
    await eventually(() => expect(receiver.open.current).toBe(0))
    await quietPeriod()
    expect(dispatching.attempts).toEqual([])
    expect(await dispatching.deliveries(id)).toMatchObject([{ state: 'pending', attempts: [] }])
    receiver.reply = () => ({ status: 200 })
    dispatching.start()
    await eventually(async () =>
      expect(await dispatching.deliveries(id)).toMatchObject([{ state: 'delivered' }]),
    )
    const [before, after] = receiver.received.map(({ headers }) => headers['webhook-id'])
    expect(after).toBe(before)
  },
)
