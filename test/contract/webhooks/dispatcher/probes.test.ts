import { beforeEach, describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../../../src/lib/durations.ts'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import {
  type Dispatching,
  eventually,
  openDispatching,
} from '../../../support/webhooks/dispatching.ts'
import { withDeliveries } from '../../../support/webhooks/stores/stubbed-stores.ts'
import { useWebhookStores } from '../webhook-stores-under-test.ts'

/** The delay after the first failed probe. */
const FIRST_PROBE_MS = 10_000

describe.each(useWebhookStores())('the probes of the dispatcher on %s', (_name, open) => {
  let dispatching: Dispatching
  let endpointId: string
  beforeEach(async () => {
    dispatching = await openDispatching(open)
    dispatching.receiver.reply = () => ({ status: 500 })
    const failingSince = dispatching.time.clock()
    const endpoint = await dispatching.subscribe({ isBreakerOpen: true, failingSince })
    endpointId = endpoint.id
  })

  const states = async () => (await dispatching.deliveries(endpointId)).map(({ state }) => state)
  const attempts = (count: number) =>
    eventually(() => expect(dispatching.attempts).toHaveLength(count))
  const storedAttempts = (count: number) =>
    eventually(async () => {
      const [first] = await dispatching.deliveries(endpointId)
      expect(first?.attempts).toHaveLength(count)
    })

  it('a probe of an order that the account no longer has is canceled, and another one is sent', async () => {
    dispatching.start()
    await dispatching.announce('ord_1')
    await storedAttempts(1)
    dispatching.views.set('ord_1', null)
    dispatching.receiver.reply = () => ({ status: 200 })
    await dispatching.announce('ord_2')
    dispatching.time.advance(HOUR_MS)
    await eventually(async () => expect(await states()).toEqual(['canceled', 'delivered']))
  })

  it('probes keep their interval when the clock is set back', async () => {
    let setBackMs = 0
    dispatching.start({ clock: () => dispatching.time.clock() - setBackMs })
    await dispatching.announce('ord_1')
    await storedAttempts(1)
    setBackMs = HOUR_MS
    dispatching.time.advance(FIRST_PROBE_MS)
    await attempts(2)
  })

  it('while the result of a probe cannot be stored, the next one takes another order', async () => {
    const { stores } = dispatching
    let { save } = stores.deliveries
    dispatching.start({ stores: withDeliveries(stores, { save: (rows) => save(rows) }) })
    await dispatching.announce('ord_1')
    await storedAttempts(1)
    save = () => Promise.reject(new Unavailable('no response'))
    dispatching.time.advance(HOUR_MS)
    await attempts(2)
    await dispatching.announce('ord_2')
    dispatching.time.advance(HOUR_MS)
    await attempts(3)
    await eventually(() => expect(dispatching.log).toContain('outage: no response'))
    expect(dispatching.receivedOrders()).toEqual(['ord_1 1', 'ord_1 1', 'ord_2 1'])
    dispatching.receiver.reply = () => ({ status: 200 })
    save = stores.deliveries.save
    await eventually(() => expect(dispatching.log).toContain('recovered'))
    dispatching.time.advance(HOUR_MS)
    await eventually(async () => expect(await states()).toEqual(['delivered', 'delivered']))
  })
})
