import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import { openServices } from '../../../src/services.ts'
import { runCommand } from '../../support/cli/command.ts'
import { metricIn } from '../../support/http/metric.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { EXPIRING_LEASE } from '../../support/stores/backend.ts'
import { deleteDeliveries } from '../../support/stores/delete-index.ts'
import {
  becomesDispatcher,
  type Delivering,
  LONG_ATTEMPTS,
  openDelivering,
  standsBy,
  verified,
} from '../../support/webhooks/delivering.ts'
import { eventually, quietPeriod } from '../../support/webhooks/dispatching.ts'
import type { Reply } from '../../support/webhooks/sending/recording-receiver.ts'

/** A standby that waited for the expiry would exceed the time of the test. */
const LONG_LEASE = { WRITER_LEASE_MS: '100000' }
const ONE_TYPE = ['--events', 'order.paid']

let delivering: Delivering
beforeEach(async () => {
  delivering = await openDelivering()
})
afterEach(() => delivering.close())

const order = (n: number, changes: object = {}) => sourceOrder({ id: `ord_${n}`, ...changes })
const orderIds = () => delivering.receiver.received.map(({ body }) => body.order_id)

describe('webhooks deliver', () => {
  it('webhooks deliver sends the signed events of a loaded order, with the bytes of the API', async () => {
    const { id, secret } = await delivering.subscribe()
    await becomesDispatcher(delivering.startDeliver())
    await delivering.load(order(1))
    const [created, paid] = await delivering.receives(2)
    if (created === undefined || paid === undefined) throw new Error('expected two webhooks')

    expect(verified(created, secret)).toMatchObject({ type: 'order.created', sequence: 1 })
    expect(verified(paid, secret)).toMatchObject({
      id: paid.headers['webhook-id'],
      type: 'order.paid',
      account_id: 'acc_1',
      order_id: 'ord_1',
      sequence: 2,
      change: { status: [null, 'PAID'] },
    })
    const services = await openServices(parseConfig(delivering.env))
    const view = await services.orders.get('acc_1', 'ord_1')
    await services.close()
    expect(paid.bytes.toString()).toContain(`"data":${Buffer.from(view ?? []).toString()}}`)
    await delivering.delivers(id, 2)
  })

  it('webhooks deliver sends events that were recorded while no dispatcher ran, in their sequence', async () => {
    const { id } = await delivering.subscribe()
    await delivering.load(order(1, { status: 'AWAITING_PAYMENT' }))
    await delivering.load(order(1, { version: 2 }))
    delivering.startDeliver()
    await delivering.delivers(id, 3)
    const types = delivering.receiver.received.map(({ body }) => `${body.sequence} ${body.type}`)
    expect(types).toEqual(['1 order.created', '2 order.awaiting_payment', '3 order.paid'])
  })

  it('a blocked account receives webhooks, except at endpoints that are disabled', async () => {
    const { id } = await delivering.subscribe(...ONE_TYPE)
    const disabled = await delivering.subscribe(...ONE_TYPE)
    await delivering.json('disable', disabled.id)
    const { code, stderr } = await runCommand(['accounts', 'block', 'acc_1'], delivering.env)
    expect(code, stderr).toBe(0)
    await delivering.load(order(1))
    delivering.startDeliver()
    await delivering.delivers(id, 1)
    expect(await delivering.json('deliveries', disabled.id)).toMatchObject([{ state: 'held' }])
    expect(orderIds()).toEqual(['ord_1'])
  })

  it('an erased order is sent without its content', async () => {
    const { id } = await delivering.subscribe('--events', 'order.removed')
    await delivering.load(order(1))
    await delivering.load({ id: 'ord_1', version: 2, owner_account_id: 'acc_1', deleted: true })
    delivering.startDeliver()
    await delivering.delivers(id, 1)
    const [removed] = delivering.receiver.received
    expect(removed?.body).toMatchObject({ type: 'order.removed', order_id: 'ord_1', change: {} })
    expect(removed?.body).not.toHaveProperty('data')
  })
})

describe('a stop of webhooks deliver', () => {
  it('SIGTERM stores the attempt in flight, and the standby takes over at once', async () => {
    const { id } = await delivering.subscribe(...ONE_TYPE)
    const first = delivering.startDeliver({ ...LONG_LEASE, ...LONG_ATTEMPTS })
    await becomesDispatcher(first)
    const second = delivering.startDeliver(LONG_LEASE)
    await standsBy(second)

    const accepted = Promise.withResolvers<Reply>()
    delivering.receiver.reply = () => accepted.promise
    await delivering.load(order(1))
    await delivering.receives(1)
    const stopped = first.stop('SIGTERM')
    await first.waitForLog('closing')
    await quietPeriod() // A process that does not wait has then lost the attempt.
    expect(delivering.receiver.open.current).toBe(1)
    accepted.resolve({ status: 200 })
    expect(await stopped).toBe(0)
    expect(await delivering.delivers(id, 1)).toMatchObject([{ attempts: [{ status: 200 }] }])

    await becomesDispatcher(second)
    await delivering.load(order(2))
    await delivering.delivers(id, 2)
    expect(orderIds()).toEqual(['ord_1', 'ord_2'])
    expect(await second.stop('SIGINT')).toBe(0)
  })

  it('a killed process is replaced, and its attempt is repeated under the same webhook-id', async () => {
    const { id } = await delivering.subscribe(...ONE_TYPE)
    const first = delivering.startDeliver(EXPIRING_LEASE)
    await becomesDispatcher(first)
    const second = delivering.startDeliver()
    await standsBy(second)
    delivering.receiver.reply = () => null
    await delivering.load(order(1))
    await delivering.receives(1)
    delivering.receiver.reply = () => ({ status: 200 })
    await first.stop('SIGKILL')

    await becomesDispatcher(second)
    await delivering.delivers(id, 1)
    const ids = delivering.receiver.received.map(({ headers }) => headers['webhook-id'])
    expect(ids).toEqual([ids[0], ids[0]])
  })
})

describe('the operations port of webhooks deliver', () => {
  it('the operations port reports readiness, and the metrics of the dispatcher and its standby', async () => {
    const { id } = await delivering.subscribe(...ONE_TYPE)
    const first = delivering.startDeliver()
    await becomesDispatcher(first)
    const second = delivering.startDeliver()
    await standsBy(second)
    delivering.receiver.reply = ({ body }) => ({ status: body.order_id === 'ord_1' ? 200 : 500 })
    await delivering.load(order(1), order(2))
    await delivering.delivers(id, 1)

    for (const deliver of [first, second]) {
      expect(await deliver.operations('/health/live')).toBe('{"status":"ok"}')
      expect(await deliver.operations('/health/ready')).toBe(
        '{"status":"ok","checks":{"orders":"ok","webhooks":"ok"}}',
      )
    }
    await eventually(async () => {
      const metrics = await first.operations('/metrics')
      const values = {
        isDispatcher: metricIn(metrics, 'webhook_is_dispatcher'),
        delivered: metricIn(metrics, 'webhook_attempts_total{outcome="delivered"}'),
        durations: metricIn(metrics, 'webhook_delivery_seconds_count'),
        due: metricIn(metrics, 'webhook_due_deliveries'),
        failing: metricIn(metrics, 'webhook_endpoints{state="failing"}'),
      }
      expect(values).toEqual({ isDispatcher: 1, delivered: 1, durations: 1, due: 0, failing: 1 })
    })
    expect(await first.metric('webhook_attempts_total{outcome="retrying"}')).toBeGreaterThan(0)
    expect(await second.metric('webhook_is_dispatcher')).toBe(0)
    expect(await second.metric('webhook_attempts_total{outcome="delivered"}')).toBe(0)
  })

  it('the operations port reports that the deliveries are lost', async () => {
    const deliver = delivering.startDeliver()
    await becomesDispatcher(deliver)
    await deleteDeliveries(delivering.backend)
    await eventually(async () => {
      expect(JSON.parse(await deliver.operations('/health/ready'))).toMatchObject({
        status: 'unavailable',
        checks: { orders: 'ok', webhooks: 'unavailable' },
      })
    })
  })
})
