import { beforeEach, describe, expect, it } from 'vitest'
import {
  type Dispatching,
  eventually,
  openDispatching,
} from '../../../support/webhooks/dispatching.ts'
import { useWebhookStores } from '../webhook-stores-under-test.ts'

const orders = (count: number) => Array.from({ length: count }, (_, index) => `ord_${index}`)

describe.each(useWebhookStores())('the memory of the dispatcher on %s', (_name, open) => {
  let dispatching: Dispatching
  beforeEach(async () => {
    dispatching = await openDispatching(open)
  })

  it('at its limit, endpoints that do not respond delay no other', async () => {
    const { receiver } = dispatching
    receiver.reply = ({ path }) => (path === '/healthy' ? { status: 200 } : null)
    for (let index = 0; index < 10; index++)
      await dispatching.subscribe({ url: receiver.url('/dead') })
    await dispatching.subscribe({ url: receiver.url('/healthy') })
    const dispatcher = dispatching.start({ settings: { maxBuffered: 32 } })
    await dispatching.announce(...orders(100))
    await eventually(() =>
      expect(receiver.received.filter(({ path }) => path === '/healthy')).toHaveLength(100),
    )
    // Eight reads at the same time of 16 rows each, and 8 rows of each lane that had none.
    expect(dispatcher.usage()?.buffered).toBeLessThan(32 + 8 * 16 + 11 * 8)
  })
})
