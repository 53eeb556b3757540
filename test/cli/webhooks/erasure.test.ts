import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  BUYER,
  BUYER_DOCUMENT,
  erasure,
  orderWithBuyerData,
} from '../../support/webhooks/buyer-data.ts'
import { type Receiver, response, startReceiver } from '../../support/webhooks/sending/receiver.ts'
import { storedOrdersText } from '../../support/webhooks/stored-text.ts'
import {
  DELIVERING,
  eventually,
  type RunningDispatcher,
  startDispatcher,
} from './running-dispatcher.ts'
import { openWebhookCommands } from './webhook-commands.ts'

/** Retries every second, so that one falls after the erasure. */
const commands = openWebhookCommands({
  ...DELIVERING,
  WEBHOOK_RETRY_SCHEDULE: ['0', ...Array(30).fill('1')].join(','),
})
const { json, run, load } = commands

const EXCERPT = 'response about the order'
const PAID = orderWithBuyerData()
/** Another order, whose events must stay until its own erasure. */
const OTHER = orderWithBuyerData({ id: 'ord_other', customer: { name: 'Ana', email: 'a@b.c' } })

const LISTED = new Set([
  'id',
  'event_id',
  'type',
  'order_id',
  'sequence',
  'state',
  'next_at',
  'attempts',
])

let receiver: Receiver
let dispatcher: RunningDispatcher
/** Ids of endpoints by the state of their delivery before the erasure. */
const endpoints = { delivered: '', retried: '', held: '' }
let isErased = false

const received = (path: string) =>
  receiver.requests
    .filter(({ head }) => head.startsWith(`POST ${path} `))
    .map(({ body }) => JSON.parse(body))
const deliveriesOfErased = async (id: string): Promise<Record<string, unknown>[]> =>
  (await json('deliveries', id)).filter(
    ({ order_id }: { order_id: string }) => order_id === PAID.id,
  )

describe('an erased order', () => {
  beforeAll(async () => {
    receiver = await startReceiver((socket, { head }) => {
      const isFailing = head.startsWith('POST /retried') && !isErased
      socket.write(response(isFailing ? 500 : 200, {}, isErased ? 'ok' : EXCERPT))
    })
    const url = (path: string) => receiver.url.replace('/webhooks', path)
    for (const name of ['delivered', 'retried', 'held'] as const) {
      const { id } = await json('create', '--account', 'acc_1', '--url', url(`/${name}`))
      endpoints[name] = id
    }
    await run('disable', endpoints.held)
    dispatcher = await startDispatcher(commands.env)
    await load(PAID, OTHER)
    await eventually(async () => {
      const first = async (id: string) => (await deliveriesOfErased(id)).at(-1)
      expect(await first(endpoints.delivered)).toMatchObject({ state: 'delivered' })
      expect(await first(endpoints.retried)).toMatchObject({
        state: 'pending',
        attempts: expect.arrayContaining([expect.objectContaining({ status: 500 })]),
      })
      expect(await first(endpoints.held)).toMatchObject({ state: 'held' })
    })
    const before = await storedOrdersText(commands.backend)
    for (const text of [EXCERPT, BUYER, 'PAID']) expect(before).toContain(text)

    await load(erasure({ id: PAID.id, version: 2 }))
    isErased = true
    receiver.requests.length = 0
    const isRemoved = (path: string) =>
      eventually(() => expect(received(path).map(({ type }) => type)).toContain('order.removed'))
    await isRemoved('/delivered')
    await isRemoved('/retried')
    await run('enable', endpoints.held)
    await isRemoved('/held')
  })
  afterAll(async () => {
    await dispatcher.stop()
    await receiver.close()
    await commands.remove()
  })

  it('an erased order is in no later webhook but order.removed, which has its id alone', async () => {
    const ofErased = ['/delivered', '/retried', '/held'].flatMap((path) =>
      received(path).filter(({ order_id }) => order_id === PAID.id),
    )
    expect(ofErased.length).toBeGreaterThanOrEqual(3)
    for (const body of ofErased) {
      expect(body).toEqual({
        id: expect.any(String),
        type: 'order.removed',
        timestamp: expect.any(String),
        account_id: 'acc_1',
        order_id: PAID.id,
        sequence: expect.any(Number),
        change: {},
      })
    }
  })

  it('an erased order has its earlier pending, retried and held deliveries canceled', async () => {
    const statesBy = async (id: string) =>
      (await deliveriesOfErased(id))
        .filter(({ type }) => type !== 'order.removed')
        .map(({ state }) => state)
    await eventually(async () => {
      expect(await statesBy(endpoints.delivered)).toContain('delivered')
      expect(new Set(await statesBy(endpoints.retried))).toEqual(new Set(['canceled']))
      expect(new Set(await statesBy(endpoints.held))).toEqual(new Set(['canceled']))
    })
  })

  it('an erased order leaves ids, types and instants in the list of deliveries', async () => {
    for (const id of Object.values(endpoints)) {
      const listed = await deliveriesOfErased(id)
      for (const delivery of listed) {
        expect(new Set(Object.keys(delivery))).toEqual(LISTED)
      }
      expect(JSON.stringify(listed)).not.toMatch(/PAID|private|response about/)
    }
  })

  it('an erased order leaves no change, excerpt or data in any store', async () => {
    expect(await storedOrdersText(commands.backend)).toContain('PAID')
    await load(erasure({ id: OTHER.id, version: 2 }))
    await eventually(async () => {
      const listed = JSON.stringify(await json('deliveries', endpoints.held))
      expect(listed.match(/order\.removed/g)).toHaveLength(2)
      expect(listed).not.toContain('"pending"')
    })
    const removed = await storedOrdersText(commands.backend)
    expect(removed).toContain(PAID.id)
    for (const text of [EXCERPT, BUYER, BUYER_DOCUMENT, 'PAID', 'pay_1'])
      expect(removed).not.toContain(text)
  })
})
