import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { attributesOf, startOtlpReceiver } from '../../../support/http/otlp-receiver.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import {
  becomesDispatcher,
  type Delivering,
  LONG_ATTEMPTS,
  openDelivering,
  standsBy,
} from '../../../support/webhooks/delivering.ts'
import { quietPeriod } from '../../../support/webhooks/dispatching.ts'

const ONE_TYPE = ['--events', 'order.paid']

let delivering: Delivering
beforeEach(async () => {
  delivering = await openDelivering()
})
afterEach(() => delivering.close())

describe('a stop of webhooks deliver', () => {
  it('SIGTERM ends a process whose receiver never responds, and the event stays pending', async () => {
    const { id } = await delivering.subscribe(...ONE_TYPE)
    const deliver = delivering.startDeliver(LONG_ATTEMPTS)
    await becomesDispatcher(deliver)
    delivering.receiver.reply = () => null
    await delivering.load(sourceOrder())
    await delivering.receives(1)
    expect(await deliver.stop('SIGTERM')).toBe(0)
    expect(deliver.output()).not.toContain('close timed out')
    expect(await delivering.json('deliveries', id)).toMatchObject([
      { state: 'pending', attempts: [] },
    ])
  })

  it('a standby exits 0 on SIGTERM', async () => {
    await becomesDispatcher(delivering.startDeliver())
    const second = delivering.startDeliver()
    await standsBy(second)
    expect(await second.stop('SIGTERM')).toBe(0)
  })
})

it('an operations port in use ends webhooks deliver with the name of the setting', async () => {
  const { msg } = await delivering.startDeliver().waitForLog('operations at')
  const { port } = new URL(msg.split(' ').at(-1) ?? '')
  const second = delivering.startDeliver({ OPERATIONS_PORT: port })
  expect(await second.ended()).toBe(1)
  expect(second.output()).toMatch(/cannot listen on .* Set HOST or OPERATIONS_PORT\n/)
})

describe('what webhooks deliver logs and traces', () => {
  it('the log has neither the URL of a receiver, nor the secret, nor the order', async () => {
    const { secret } = await delivering.subscribe(...ONE_TYPE)
    const deliver = delivering.startDeliver()
    await becomesDispatcher(deliver)
    delivering.receiver.reply = () => ({ status: 500 })
    await delivering.load(sourceOrder())
    const failure = await deliver.waitForLog('a webhook was not accepted')
    expect(failure).toMatchObject({ event_type: 'order.paid', status: 500, outcome: 'retrying' })
    // With its colon: a time in the log may have the digits of the port.
    const port = `:${new URL(delivering.receiver.url()).port}`
    for (const confidential of [port, '/hooks', secret.slice('whsec_'.length), 'ord_1']) {
      expect(deliver.output()).not.toContain(confidential)
    }
  })

  it('each attempt is a trace that the collector receives before the process ends', async () => {
    const collector = await startOtlpReceiver()
    const { id } = await delivering.subscribe(...ONE_TYPE)
    const deliver = delivering.startDeliver({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '600000',
    })
    await becomesDispatcher(deliver)
    await delivering.load(sourceOrder())
    await delivering.delivers(id, 1)
    await quietPeriod()
    expect(await deliver.stop()).toBe(0)
    const [span, ...others] = collector.spans()
    await collector.close()
    expect(others).toEqual([])
    expect(span).toMatchObject({ name: 'POST webhook' })
    expect(attributesOf(span ?? { attributes: [] })).toMatchObject({
      'http.response.status_code': 200,
      'messaging.message.id': delivering.receiver.received[0]?.body.id,
    })
  })
})
