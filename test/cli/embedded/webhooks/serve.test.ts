import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readOutput } from '../../../support/cli/background-process.ts'
import {
  type RunningService,
  runCommand,
  serveInProcess,
  startService,
} from '../../../support/cli/command.ts'
import { attributesOf, startOtlpReceiver } from '../../../support/http/otlp-receiver.ts'
import { sourceOrder } from '../../../support/orders/source-order.ts'
import {
  becomesDispatcher,
  type Delivering,
  LONG_ATTEMPTS,
  openDelivering,
  standsBy,
  verified,
} from '../../../support/webhooks/delivering.ts'
import { quietPeriod } from '../../../support/webhooks/dispatching.ts'
import type { Reply } from '../../../support/webhooks/sending/recording-receiver.ts'

const ONE_TYPE = ['--events', 'order.paid']
/** A process of several needs a Redis address; without a Redis, each counts its rate limits. */
const TWO_WORKERS = { WORKERS: '2', REDIS_URL: 'redis://127.0.0.1:1' }

let delivering: Delivering
let services: RunningService[]
beforeEach(async () => {
  services = []
  delivering = await openDelivering()
})
afterEach(async () => {
  await Promise.all(services.map((service) => service.stop()))
  await delivering.close()
})

async function serve(start = serveInProcess, settings: Record<string, string> = {}) {
  const service = await start([], { ...delivering.env, ...settings })
  services.push(service)
  const reading = readOutput(() => service.output().stdout + service.output().stderr)
  return { ...service, ...reading, output: service.output }
}

const order = (n: number) => sourceOrder({ id: `ord_${n}` })
const orderIds = () => delivering.receiver.received.map(({ body }) => body.order_id)

describe('serve on the embedded store', () => {
  it('serve delivers the events of a load beside it', async () => {
    const { id, secret } = await delivering.subscribe(...ONE_TYPE)
    const service = await serve()
    await becomesDispatcher(service)
    await delivering.load(order(1))
    const [webhook] = await delivering.receives(1)
    if (webhook === undefined) throw new Error('expected a webhook')
    expect(verified(webhook, secret)).toMatchObject({ type: 'order.paid', order_id: 'ord_1' })
    await delivering.delivers(id, 1)
    expect(await service.metric('webhook_is_dispatcher')).toBe(1)
    expect(await service.metric('webhook_attempts_total{outcome="delivered"}')).toBe(1)
    expect(await delivering.json('status')).toMatchObject({ dispatcher: { alive: true } })
  })

  it('delivers the events of the sandbox to its own endpoint alone, marked as such', async () => {
    const live = await delivering.subscribe()
    const test = await delivering.subscribe('--test')
    const service = await serve()
    await becomesDispatcher(service)
    const created = ['sandbox', 'create', '--account', 'acc_1', '--scenario', 'card_paid', '--json']
    const { id } = JSON.parse((await runCommand(created, delivering.env)).stdout)
    await delivering.load(order(1))
    await delivering.delivers(test.id, 2)
    await delivering.delivers(live.id, 2)
    await quietPeriod()
    const bodies = delivering.receiver.received.map(({ body }) => body)
    const marks = new Map(bodies.map((body) => [body.order_id, [body['account_id'], body['test']]]))
    expect(marks).toEqual(
      new Map([
        [id, ['acc_1', true]],
        ['ord_1', ['acc_1', undefined]],
      ]),
    )
    expect(bodies).toHaveLength(4)
    expect(bodies.find(({ order_id }) => order_id === id)?.['data']).toMatchObject({ id })
  })

  it('serve with two workers delivers in one process, and traces each attempt', async () => {
    const collector = await startOtlpReceiver()
    const { id } = await delivering.subscribe(...ONE_TYPE)
    const service = await serve(startService, {
      ...TWO_WORKERS,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    })
    await becomesDispatcher(service)
    await delivering.load(...[1, 2, 3, 4].map(order))
    await delivering.delivers(id, 4)
    await quietPeriod()
    expect(new Set(orderIds())).toEqual(new Set(['ord_1', 'ord_2', 'ord_3', 'ord_4']))
    expect(orderIds()).toHaveLength(4)
    expect(await service.metric('webhook_is_dispatcher')).toBe(1)
    expect(await service.metric('webhook_attempts_total{outcome="delivered"}')).toBe(4)
    const states = service.log().filter(({ msg }) => /delivers webhooks|standby/.test(msg))
    expect(states).toHaveLength(1)
    expect(await service.stop()).toBe(0)
    const events = collector.spans().map((span) => attributesOf(span)['messaging.message.id'])
    await collector.close()
    expect(events.filter((event) => event !== undefined)).toHaveLength(4)
  })

  it('a second serve on the same folder stands by, and takes over when the first one ends', async () => {
    const { id } = await delivering.subscribe(...ONE_TYPE)
    const first = await serve()
    await becomesDispatcher(first)
    const second = await serve()
    await standsBy(second)
    await delivering.load(order(1))
    await delivering.delivers(id, 1)
    expect(await second.metric('webhook_is_dispatcher')).toBe(0)

    expect(await first.stop()).toBe(0)
    await becomesDispatcher(second)
    await delivering.load(order(2))
    await delivering.delivers(id, 2)
    expect(orderIds()).toEqual(['ord_1', 'ord_2'])
  })

  it('webhooks deliver stands by while serve delivers', async () => {
    await becomesDispatcher(await serve())
    await standsBy(delivering.startDeliver())
  })
})

describe('a graceful shutdown of serve', () => {
  it.each([
    ['one process', {}],
    ['two workers', TWO_WORKERS],
  ])('a graceful shutdown of %s stores the attempt in flight', async (_name, settings) => {
    const { id } = await delivering.subscribe(...ONE_TYPE)
    const service = await serve(startService, { ...settings, ...LONG_ATTEMPTS })
    await becomesDispatcher(service)
    const accepted = Promise.withResolvers<Reply>()
    delivering.receiver.reply = () => accepted.promise
    await delivering.load(order(1))
    await delivering.receives(1)
    const stopped = service.stop()
    await service.waitForLog('closing')
    await quietPeriod() // A process that does not wait has then lost the attempt.
    expect(delivering.receiver.open.current).toBe(1)
    accepted.resolve({ status: 200 })
    expect(await stopped).toBe(0)
    expect(await delivering.json('deliveries', id)).toMatchObject([
      { state: 'delivered', attempts: [{ status: 200 }] },
    ])
    expect(delivering.receiver.received).toHaveLength(1)
  })
})

describe('a receiver that never responds', () => {
  it('a receiver that never responds delays neither the API nor the shutdown', async () => {
    const { id } = await delivering.subscribe(...ONE_TYPE)
    const created = await runCommand(['keys', 'create', '--account', 'acc_1'], delivering.env)
    const headers = { authorization: `Bearer ${created.stdout.trim()}` }
    const service = await serve(startService, LONG_ATTEMPTS)
    await becomesDispatcher(service)
    delivering.receiver.reply = () => null
    await delivering.load(order(1))
    await delivering.receives(1)

    const response = await fetch(`${service.baseUrl}/v1/orders`, { headers })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ data: [{ id: 'ord_1' }] })
    expect(delivering.receiver.open.current).toBe(1)
    expect(await service.stop()).toBe(0)
    expect(await delivering.json('deliveries', id)).toMatchObject([
      { state: 'pending', attempts: [] },
    ])
  })
})
