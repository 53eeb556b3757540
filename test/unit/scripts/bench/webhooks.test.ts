import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Arrival,
  disorderOf,
  failuresOf,
  latencyFigures,
} from '../../../../scripts/bench/parts/webhooks/arrivals.ts'
import { createNewOrders } from '../../../../scripts/bench/parts/webhooks/new-orders.ts'
import {
  type ReceiverProcess,
  startReceiver,
} from '../../../../scripts/bench/parts/webhooks/receiver-process.ts'
import { renderTargets } from '../../../../scripts/bench/parts/webhooks/targets.ts'
import { rates } from '../../../../scripts/bench/parts/webhooks/throughput.ts'

const arrival = (orderId: string, atMs: number, sequence = 1): Arrival => {
  return { id: `evt_${orderId}_${sequence}`, orderId, sequence, atMs }
}

describe('arrivals of webhooks', () => {
  it('The latency of an order is from its confirmation to its first arrival', () => {
    const confirmedAt = new Map([
      ['ord_1', 100],
      ['ord_2', 200],
    ])
    const figures = latencyFigures(confirmedAt, [arrival('ord_2', 210), arrival('ord_1', 140)])
    expect(figures).toMatchObject({ answers: 2, failures: {}, p50Ms: 10, p99Ms: 40, maxMs: 40 })
  })

  it('An event that arrives never, twice or without a write is a failure', () => {
    const arrivals = [arrival('ord_1', 1), arrival('ord_1', 2), arrival('ord_3', 3)]
    expect(failuresOf(['ord_1', 'ord_2'], arrivals, ({ orderId }) => orderId)).toEqual({
      'an event that arrived twice': 1,
      'an event that never arrived': 1,
      'an event that was never written': 1,
    })
    expect(failuresOf(['evt_ord_1_1'], [arrival('ord_1', 1)])).toEqual({})
  })

  it('An event after a later one of its order is a failure, of another order it is none', () => {
    const arrivals = [arrival('ord_1', 1, 2), arrival('ord_2', 2, 1), arrival('ord_1', 3, 3)]
    expect(disorderOf(arrivals)).toEqual({})
    expect(disorderOf([...arrivals, arrival('ord_1', 4, 1)])).toEqual({
      'an event after a later one of its order': 1,
    })
  })

  it('Rates count from the first arrival to the last, and by CPU time', () => {
    const counts = { arrivals: 500, maxInFlight: 9, firstAtMs: 1_000, lastAtMs: 3_000 }
    expect(rates(counts, 100_000)).toEqual({
      ...{ answers: 500, perSecond: 250, perCpuSecond: 5_000, processMicros: 200 },
    })
  })
})

it('A figure that misses its target is marked', () => {
  const lines = renderTargets([
    { name: 'ratio', value: 0.61, atLeast: 0.6 },
    { name: 'ms', value: 251, atMost: 250 },
    { name: 'nothing', value: Number.NaN, atMost: 250 },
  ])
  expect(lines).toEqual([
    '  ratio: 0.610 (target: at least 0.6)',
    '! ms: 251 (target: at most 250)',
    '! nothing: - (target: at most 250)',
  ])
})

it('New orders are distinct, and each is seen by its owner alone', () => {
  const changes = [...createNewOrders(Date.parse('2026-03-01T00:00:00Z')).changes(300, ['a', 'b'])]
  expect(new Set(changes.map(({ orderId }) => orderId)).size).toBe(300)
  const accountIds = changes.map(({ views }) => views.map(({ accountId }) => accountId))
  expect(accountIds).toEqual(changes.map((_, at) => [at % 2 === 0 ? 'a' : 'b']))
})

describe('receiver', () => {
  const scope = new AsyncDisposableStack()
  const { signal } = new AbortController()
  let receiver: ReceiverProcess

  beforeAll(async () => {
    receiver = await startReceiver(scope)
  })
  afterAll(() => scope.disposeAsync())

  const post = (url: string, orderId: string, id = `evt_${orderId}`) =>
    fetch(url, {
      method: 'POST',
      headers: { 'webhook-id': id },
      body: JSON.stringify({ id, order_id: orderId, sequence: 7, data: { id: orderId } }),
    })

  it('The receiver remembers what arrived at each group, until it is reset', async () => {
    await post(receiver.urlOf('one', 1), 'ord_1')
    await post(receiver.urlOf('one', 2), 'ord_2')
    await post(receiver.urlOf('other', 1), 'ord_3')
    const [first, second] = await receiver.arrivals('one')
    expect(first).toMatchObject({ id: 'evt_ord_1', orderId: 'ord_1', sequence: 7 })
    expect(second?.orderId).toBe('ord_2')
    const [body] = await receiver.bodies()
    expect(JSON.parse(body ?? '')).toMatchObject({ id: 'evt_ord_1' })
    const counts = await receiver.received('one', 2, { signal, stalledMs: 1_000 })
    expect(counts).toMatchObject({ arrivals: 2, maxInFlight: 1, firstAtMs: first?.atMs })
    await receiver.reset('one')
    expect(await receiver.arrivals('one')).toEqual([])
    expect(await receiver.arrivals('other')).toHaveLength(1)
  })

  it('The greatest number in flight is that of one endpoint, not of its group', async () => {
    await receiver.behave('slow', { mode: 'accept', delayMs: 200 })
    const urls = [1, 1, 1, 2].map((name) => receiver.urlOf('slow', name))
    await Promise.all(urls.map((url, at) => post(url, `ord_${at}`)))
    expect(await receiver.counts('slow')).toMatchObject({ arrivals: 4, maxInFlight: 3 })
  })

  it('A group refuses with 503 or never responds, and neither counts as an arrival', async () => {
    await receiver.behave('down', { mode: 'refuse' })
    expect((await post(receiver.urlOf('down', 1), 'ord_1')).status).toBe(503)
    await receiver.behave('down', { mode: 'hang' })
    const hanging = post(receiver.urlOf('down', 1), 'ord_1')
    expect(await Promise.race([hanging, receiver.counts('down')])).toMatchObject({ arrivals: 0 })
    hanging.catch(() => {}) // The receiver's end closes it.
  })

  it('The wait for arrivals ends when nothing more arrives', async () => {
    await post(receiver.urlOf('lost', 1), 'ord_1')
    const counts = await receiver.received('lost', 2, { signal, stalledMs: 100 })
    expect(counts.arrivals).toBe(1)
  })
})
