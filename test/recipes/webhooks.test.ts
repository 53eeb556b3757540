import { existsSync } from 'node:fs'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventExamples, testEventExample } from '../../src/openapi/webhooks/event-examples.ts'
import {
  OTHER_SECRET,
  SECRET,
  type SigningOptions,
  signDelivery,
} from '../support/webhooks/sending/signed-delivery.ts'
import { type Receiver, receivers } from './webhooks/receivers.ts'

const { data: example, ...envelope } = eventExamples()['order.paid']
const TOO_OLD_MS = 301_000
/** The start of a secret that was cut. */
const INCOMPLETE_SECRET = 'whsec_b25l'
/** Of n8n, on its first use. */
const INSTALL_MS = 300_000

interface EventFields {
  id: string
  order_id: string
  sequence: number
  timestamp?: string
  type?: string
  /** `null`: a thin event. */
  data?: object | null
}

let number = 0
const nextId = () => `evt_${String(++number).padStart(24, '0')}`
const newOrder = () => `ord_${++number}`

/** An order whose content shows its version, with text and values that a new printing changes. */
const orderOf = (id: string, sequence: number) => ({
  ...example,
  id,
  amount_total: sequence,
  customer: { ...example?.customer, name: 'Zoë "Zé" D\'Ávila 🎸' },
  metadata: { origin: '</script>/\u2028', currency_rate: 5.1 },
  tracking: {},
})

const wellFormed = (texts: object = {}) =>
  Object.entries(texts).map(([name, text]) => [name, String(text).toWellFormed()])

function eventOf({ data, ...fields }: EventFields) {
  const order = data === undefined ? orderOf(fields.order_id, fields.sequence) : data
  return { ...envelope, ...fields, ...(order && { data: order }) }
}

describe.each(Object.entries(receivers))('the webhook receiver in %s', (_name, start) => {
  let receiver: Receiver
  beforeAll(async () => {
    receiver = await start([SECRET])
  }, INSTALL_MS)
  afterAll(() => receiver.close())

  /** Signs an event as the service does, with line breaks that a JSON parser loses. */
  const send = (event: { id: string }, options: SigningOptions = {}) =>
    receiver.deliver(signDelivery(event.id, JSON.stringify(event, null, 1), options))
  const kept = async (id: string) => (await receiver.kept()).get(id)

  it('keeps the order of a valid delivery and returns 2xx', async () => {
    const order_id = newOrder()
    expect(await send(eventOf({ id: nextId(), order_id, sequence: 3 }))).toBe(204)
    expect(await kept(order_id)).toEqual({
      sequence: 3,
      order: orderOf(order_id, 3),
      mustFetch: false,
    })
  })

  it('keeps an order with a text that was cut within an emoji', async () => {
    const order_id = newOrder()
    const tracking = { src: 'bio \ud83d', sck: 'a \\ud83d 🎸', utm: '\udfb8 b' }
    const data = { ...orderOf(order_id, 3), tracking }
    expect(await send(eventOf({ id: nextId(), order_id, sequence: 3, data }))).toBe(204)
    const { order } = (await kept(order_id)) ?? {}
    expect(wellFormed(Object(order).tracking)).toEqual(wellFormed(tracking))
  })

  it('keeps an order whose tracking has keys that begin with NUL, and its next version', async () => {
    const order_id = newOrder()
    const tracking = { '\0k': 'v', '\0\0"': '\0": 1', 'a"\0b': '"\0', '\\': '\0', src: '\0:' }
    // PHP has no such property name, so its receiver replaces the NUL.
    const named = (texts: object) =>
      Object.entries(texts).map(([name, text]) => [name.replace(/^\0/, '\ufffd'), text])
    for (const sequence of [3, 4]) {
      const data = { ...orderOf(order_id, sequence), tracking }
      expect(await send(eventOf({ id: nextId(), order_id, sequence, data }))).toBe(204)
      const { order } = (await kept(order_id)) ?? {}
      expect(named(Object(order).tracking)).toEqual(named(tracking))
    }
  })

  it('replaces the order by that of a newer sequence, after a gap', async () => {
    const order_id = newOrder()
    await send(eventOf({ id: nextId(), order_id, sequence: 1 }))
    expect(await send(eventOf({ id: nextId(), order_id, sequence: 7 }))).toBe(204)
    expect(await kept(order_id)).toMatchObject({ sequence: 7, order: { amount_total: 7 } })
  })

  it('drops an older sequence with 2xx', async () => {
    const order_id = newOrder()
    await send(eventOf({ id: nextId(), order_id, sequence: 5 }))
    expect(await send(eventOf({ id: nextId(), order_id, sequence: 4 }))).toBe(204)
    expect(await kept(order_id)).toMatchObject({ sequence: 5, order: { amount_total: 5 } })
  })

  it('keeps the events of an order whose sequences start again after a restore', async () => {
    const order_id = newOrder()
    const before = { order_id, sequence: 7, timestamp: '2026-03-01T12:00:00.000Z' }
    await send(eventOf({ id: nextId(), ...before }))
    const restored = { order_id, sequence: 1, timestamp: '2026-03-01T12:00:00.001Z' }
    expect(await send(eventOf({ id: nextId(), ...restored }))).toBe(204)
    expect(await kept(order_id)).toMatchObject({ sequence: 1, order: { amount_total: 1 } })
    expect(await send(eventOf({ id: nextId(), ...before, sequence: 8 }))).toBe(204)
    expect(await kept(order_id)).toMatchObject({ sequence: 1, order: { amount_total: 1 } })
  })

  it('handles a repeated id once, with 2xx', async () => {
    const order_id = newOrder()
    const id = nextId()
    await send(eventOf({ id, order_id, sequence: 1 }))
    // No event of the service; only the repeated id can stop it.
    expect(await send(eventOf({ id, order_id, sequence: 9 }))).toBe(204)
    expect(await kept(order_id)).toMatchObject({ sequence: 1 })
  })

  it('erases a removed order and does not restore it from an older event', async () => {
    const order_id = newOrder()
    await send(eventOf({ id: nextId(), order_id, sequence: 2 }))
    const removed = { id: nextId(), order_id, type: 'order.removed', data: null }
    expect(await send(eventOf({ ...removed, sequence: 4 }))).toBe(204)
    expect(await kept(order_id)).toEqual({ sequence: 4, order: null, mustFetch: false })
    await send(eventOf({ id: nextId(), order_id, sequence: 3 }))
    expect(await kept(order_id)).toMatchObject({ sequence: 4, order: null })
  })

  it('keeps an order that comes back after its removal', async () => {
    const order_id = newOrder()
    await send(eventOf({ id: nextId(), order_id, sequence: 1, type: 'order.removed', data: null }))
    await send(eventOf({ id: nextId(), order_id, sequence: 2, type: 'order.created' }))
    expect(await kept(order_id)).toMatchObject({ sequence: 2, order: { amount_total: 2 } })
  })

  it('marks the order of a thin event as one to fetch', async () => {
    const order_id = newOrder()
    expect(await send(eventOf({ id: nextId(), order_id, sequence: 1, data: null }))).toBe(204)
    expect(await kept(order_id)).toEqual({ sequence: 1, order: null, mustFetch: true })
  })

  it('returns 2xx to a test event and keeps nothing', async () => {
    const before = await receiver.kept()
    expect(await send(testEventExample)).toBe(204)
    expect(await receiver.kept()).toEqual(before)
  })

  it('returns 2xx to an event type that it does not know', async () => {
    const order_id = newOrder()
    const event = eventOf({ id: nextId(), order_id, sequence: 1, type: 'order.teleported' })
    expect(await send(event)).toBe(204)
  })

  describe('rejects and keeps nothing of', () => {
    // The time of a row is that of its test, because the receiver may be installed before it.
    it.each<[string, () => SigningOptions]>([
      ['a wrong signature', () => ({ secrets: [OTHER_SECRET] })],
      ['an old timestamp', () => ({ nowMs: Date.now() - TOO_OLD_MS })],
      ['a timestamp of the future', () => ({ nowMs: Date.now() + 2 * TOO_OLD_MS })],
    ])('rejects and keeps nothing of %s', async (_what, optionsNow) => {
      const order_id = newOrder()
      const event = eventOf({ id: nextId(), order_id, sequence: 1 })
      expect(await send(event, optionsNow())).toBe(400)
      expect(await kept(order_id)).toBeUndefined()
    })

    it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])(
      'rejects and keeps nothing of a delivery without %s',
      async (name) => {
        const order_id = newOrder()
        const event = eventOf({ id: nextId(), order_id, sequence: 1 })
        const { headers, body } = signDelivery(event.id, JSON.stringify(event))
        const { [name]: _left, ...others } = headers
        expect(await receiver.deliver({ headers: others as typeof headers, body })).toBe(400)
        expect(await kept(order_id)).toBeUndefined()
      },
    )

    it('rejects and keeps nothing of a changed body', async () => {
      const order_id = newOrder()
      const event = eventOf({ id: nextId(), order_id, sequence: 1 })
      const { headers, body } = signDelivery(event.id, JSON.stringify(event))
      expect(await receiver.deliver({ headers, body: `${body} ` })).toBe(400)
      expect(await kept(order_id)).toBeUndefined()
    })
  })

  it('handles an event after its first delivery was rejected', async () => {
    const order_id = newOrder()
    const event = eventOf({ id: nextId(), order_id, sequence: 1 })
    expect(await send(event, { nowMs: Date.now() - TOO_OLD_MS })).toBe(400)
    expect(await send(event)).toBe(204)
    expect(await kept(order_id)).toMatchObject({ sequence: 1 })
  })

  it.each([
    ['the old secret first', [OTHER_SECRET, SECRET]],
    ['the new secret first', [SECRET, OTHER_SECRET]],
  ])('accepts two signatures during a roll, with %s', async (_what, secrets) => {
    const order_id = newOrder()
    const event = eventOf({ id: nextId(), order_id, sequence: 1 })
    expect(await send(event, { secrets })).toBe(204)
    expect(await kept(order_id)).toMatchObject({ sequence: 1 })
  })

  it('keeps the newest of many concurrent deliveries', async () => {
    const order_id = newOrder()
    const sequences = [4, 1, 8, 3, 6, 2, 7, 5]
    const statuses = await Promise.all(
      sequences.map((sequence) => send(eventOf({ id: nextId(), order_id, sequence }))),
    )
    expect(new Set(statuses)).toEqual(new Set([204]))
    expect(await kept(order_id)).toMatchObject({ sequence: 8, order: { amount_total: 8 } })
  })
})

it.each(Object.entries(receivers))(
  'the webhook receiver in %s accepts either of its two secrets',
  async (_name, start) => {
    const receiver = await start([OTHER_SECRET, SECRET])
    try {
      for (const secret of [SECRET, OTHER_SECRET]) {
        const event = eventOf({ id: nextId(), order_id: newOrder(), sequence: 1 })
        const delivery = signDelivery(event.id, JSON.stringify(event), { secrets: [secret] })
        expect(await receiver.deliver(delivery)).toBe(204)
      }
    } finally {
      await receiver.close()
    }
  },
  INSTALL_MS,
)

it.each(Object.entries(receivers))(
  'the webhook receiver in %s accepts no signature of an incomplete secret',
  async (_name, start) => {
    const receiver = await start([INCOMPLETE_SECRET]).catch((error: Error) => error)
    if (receiver instanceof Error) {
      expect(receiver.message).toContain('ORDERS_WEBHOOK_SECRET não tem um segredo inteiro')
      return
    }
    try {
      const event = eventOf({ id: nextId(), order_id: newOrder(), sequence: 1 })
      const delivery = signDelivery(event.id, JSON.stringify(event), {
        secrets: [INCOMPLETE_SECRET],
      })
      expect(await receiver.deliver(delivery)).toBe(500)
    } finally {
      await receiver.close()
    }
  },
  INSTALL_MS,
)

it.each(['Node', 'Python', 'PHP'])(
  'the webhook receiver in %s compares only sequences with an order that it kept without a timestamp',
  async (name) => {
    const receiver = await receivers[name]?.([SECRET])
    if (receiver === undefined) throw new Error(`no receiver in ${name}`)
    try {
      const order_id = newOrder()
      const send = (sequence: number) => {
        const event = eventOf({ id: nextId(), order_id, sequence })
        return receiver.deliver(signDelivery(event.id, JSON.stringify(event)))
      }
      await send(5)
      await forgetTimestamp(receiver.folder, order_id)
      for (const [sequence, kept] of [
        [4, 5],
        [6, 6],
      ] as const) {
        expect(await send(sequence)).toBe(204)
        expect((await receiver.kept()).get(order_id)).toMatchObject({ sequence: kept })
      }
    } finally {
      await receiver.close()
    }
  },
  INSTALL_MS,
)

/** Leaves an order as a receiver of an earlier version kept it. */
async function forgetTimestamp(folder: string, id: string) {
  const file = join(folder, 'dados/pedidos', `${id}.json`)
  if (existsSync(file)) {
    const { timestamp: _, ...earlier } = JSON.parse(await readFile(file, 'utf8'))
    await writeFile(file, JSON.stringify(earlier))
    return
  }
  using database = new DatabaseSync(join(folder, 'webhooks.db'))
  database.prepare("UPDATE pedidos SET timestamp = '' WHERE id = ?").run(id)
}

it.each(['Python'])(
  'the webhook receiver in %s rejects a body of negative length unread',
  async (name) => {
    const receiver = await receivers[name]?.([SECRET])
    if (receiver === undefined) throw new Error(`no receiver in ${name}`)
    try {
      const { hostname, port, host } = new URL(receiver.url)
      const socket = connect(Number(port), hostname)
      socket.end(`POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: -1\r\n\r\n`)
      // A body that it had read would get 400, because it has no signature.
      expect(await text(socket)).toMatch(/^HTTP\/1\.0 413 /)
    } finally {
      await receiver.close()
    }
  },
  INSTALL_MS,
)

it.each(['Node', 'Python'])(
  'the webhook receiver in %s keeps its database readable by its user only',
  async (name) => {
    const receiver = await receivers[name]?.([SECRET])
    if (receiver === undefined) throw new Error(`no receiver in ${name}`)
    try {
      const { mode } = await stat(join(receiver.folder, 'webhooks.db'))
      expect((mode & 0o777).toString(8)).toBe('600')
    } finally {
      await receiver.close()
    }
  },
  INSTALL_MS,
)

it.each(['Node', 'Python'])(
  'the webhook receiver in %s finds its old events in an index',
  async (name) => {
    const receiver = await receivers[name]?.([SECRET])
    if (receiver === undefined) throw new Error(`no receiver in ${name}`)
    try {
      using database = new DatabaseSync(join(receiver.folder, 'webhooks.db'))
      const statement = 'EXPLAIN QUERY PLAN DELETE FROM eventos WHERE recebido_em < 1'
      const [plan] = database.prepare(statement).all()
      expect(plan?.['detail']).toContain('USING INDEX')
    } finally {
      await receiver.close()
    }
  },
  INSTALL_MS,
)
