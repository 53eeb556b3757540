import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseConfig } from '../../../src/config/config.ts'
import type { OrderIndex } from '../../../src/indexing/writer/order-index.ts'
import { openServices, type Services } from '../../../src/services.ts'
import { createPushing, NDJSON, toNdjson } from '../../support/http/pushing.ts'
import { ADMIN } from '../../support/management/build-management.ts'
import { sourceOrder } from '../../support/orders/source-order.ts'
import { openTestServices } from '../../support/stores/services.ts'
import { recordedEvents, subscribe } from '../../support/webhooks/recorded-events.ts'

let test: Awaited<ReturnType<typeof openTestServices>>
let pushing: ReturnType<typeof createPushing>
let other: Services
const indices: OrderIndex[] = []
beforeEach(async () => {
  test = await openTestServices()
  pushing = createPushing(test.services)
  other = await openServices(parseConfig(test.env))
})
afterEach(async () => {
  for (const index of indices.splice(0)) await index.close()
  await pushing.close()
  await other.close()
  await test.close()
})

/** Another process becomes the writer. */
async function openOther(purpose: 'load' | 'watch'): Promise<OrderIndex> {
  const index = await other.openIndex({ purpose })
  indices.push(index)
  return index
}

const order = (version: number, changes: object = {}) => sourceOrder({ version, ...changes })

async function stored(id = 'ord_1') {
  await test.refresh()
  return JSON.parse(Buffer.from((await test.services.orders.get('acc_1', id)) ?? []).toString())
}

describe('pushed source orders', () => {
  it('each line has its result, and a refused one does not stop the others', async () => {
    await pushing.push(order(2))
    const lines = [
      order(3, { amount_total: 1 }), // Written.
      order(4, { amount_total: 1 }), // Shows nothing new.
      order(4), // An equal version.
      order(1),
      order(5, { owner_account_id: 'acc_2' }),
      { id: 'ord_2' },
      sourceOrder({ id: 'ord_3' }),
    ]
    const { status, json } = await pushing.send(`${toNdjson(lines)}\nnot json`)
    expect(status).toBe(200)
    expect(json).toEqual({
      object: 'source_order_results',
      refused: 3,
      data: [
        { line: 1, id: 'ord_1', result: 'written' },
        { line: 2, id: 'ord_1', result: 'unchanged' },
        { line: 3, id: 'ord_1', result: 'older' },
        { line: 4, id: 'ord_1', result: 'older' },
        {
          line: 5,
          id: 'ord_1',
          result: 'refused',
          path: '/owner_account_id',
          reason: 'the owner of an order never changes',
        },
        { line: 6, id: 'ord_2', result: 'refused', path: '/version', reason: 'is missing' },
        { line: 7, id: 'ord_3', result: 'written' },
        { line: 9, id: null, result: 'refused', path: '', reason: expect.stringContaining('JSON') },
      ],
    })
    const counted = Map.groupBy(await pushing.counted(), (result) => result)
    const returned = Map.groupBy(['written', ...json.data.map(({ result }) => result)], String)
    for (const [result, all] of returned) expect(counted.get(result as never)).toEqual(all)
    expect((await stored()).amount_total).toBe(1)
  })

  it('a JSON array and a body without lines are accepted', async () => {
    const type = 'application/json; charset=utf-8'
    const { json } = await pushing.send(JSON.stringify([order(1), null]), { type })
    expect(json.data.map(({ line, id, result }) => [line, id, result])).toEqual([
      [1, 'ord_1', 'written'],
      [2, null, 'refused'],
    ])
    expect((await pushing.send('[]', { type })).json).toMatchObject({ refused: 0, data: [] })
    expect((await pushing.send('\n')).json).toMatchObject({ refused: 0, data: [] })
  })

  it('the example of docker/indexing.md is written', async () => {
    const page = await readFile(new URL('../../../docker/indexing.md', import.meta.url), 'utf8')
    const [, example = ''] = /--data-binary[^']*'([^']+)'/.exec(page) ?? []
    const { json } = await pushing.send(example)
    expect(json.data).toEqual([{ line: 1, id: 'ord_first', result: 'written' }])
  })

  it('the write timestamp dates an order, so that clients that sync receive it', async () => {
    const before = Date.now()
    await pushing.push(order(1, { changed_at: '2026-03-01T12:05:00Z' }))
    // The clock of the store can be behind that of this process.
    expect(Date.parse((await stored()).updated_at)).toBeGreaterThan(before - 10_000)
  })

  it('the events of pushed orders are recorded', async () => {
    await subscribe(test, 'acc_1')
    await pushing.push(order(1, { status: 'AWAITING_PAYMENT' }), order(2))
    expect(await recordedEvents(test)).toEqual([
      'ord_1 1 order.created acc_1 new to AWAITING_PAYMENT',
      'ord_1 2 order.awaiting_payment acc_1 new to AWAITING_PAYMENT',
      'ord_1 3 order.paid acc_1 AWAITING_PAYMENT to PAID',
    ])
  })

  it('concurrent calls with the same orders leave the newest versions', async () => {
    const ids = Array.from({ length: 20 }, (_, n) => `ord_${n}`)
    const versions = [5, 2, 4, 1, 3, 5]
    const calls = versions.map((version) =>
      pushing.push(...ids.map((id) => order(version, { id, amount_total: version }))),
    )
    const results = (await Promise.all(calls)).flat()
    expect(results.filter((result) => !/(written|older)$/.test(result))).toEqual([])
    const amounts = ids.map(async (id) => (await stored(id)).amount_total)
    expect(new Set(await Promise.all(amounts))).toEqual(new Set([5]))
  })
})

describe('a refused call', () => {
  const tooMany = toNdjson(Array.from({ length: 1_001 }, () => ({})))
  const refused: [what: string, body: string | Buffer, type: string, status: number][] = [
    ['1001 lines', tooMany, NDJSON, 400],
    ['a JSON object', '{}', 'application/json', 400],
    ['half an array', '[', 'application/json', 400],
    ['another type', '{}', 'text/plain', 415],
  ]
  it.each(refused)('%s', async (_what, body, type, status) => {
    const { json, ...answer } = await pushing.send(body, { type })
    expect([answer.status, json.error.code]).toEqual([status, 'invalid_request'])
    expect(await pushing.counted()).toEqual([])
  })

  it('compressed lines, which would count as malformed ones', async () => {
    const body = gzipSync(toNdjson([order(1), order(2)]))
    const { status, json } = await pushing.send(body, { encoding: 'gzip' })
    expect([status, json.error.code]).toEqual([415, 'invalid_request'])
    expect(json.error.message).toContain('sem compressão')
    expect(await pushing.counted()).toEqual([])
  })

  it('a body of more than 8 MiB, with the limit in the message', async () => {
    const type = 'application/json'
    const largest = `[${' '.repeat(8 * 1024 * 1024 - 2)}]`
    expect(await pushing.send(largest, { type })).toMatchObject({ status: 200 })
    const { status, json } = await pushing.send(`${largest} `, { type })
    expect([status, json.error.code]).toEqual([413, 'invalid_request'])
    expect(json.error.message).toContain('maior que 8 MiB')
    expect(await pushing.counted()).toEqual([])
  })

  it('a token with the role read, and no token, may not push', async () => {
    expect(await pushing.send('{}', { token: 'read' })).toMatchObject({ status: 403 })
    expect(await pushing.send('{}', { token: null })).toMatchObject({ status: 401 })
  })
})

describe('beside another writer', () => {
  it('a call fails during a watch, and works once the watch has ended', async () => {
    const watch = await openOther('watch')
    const { status, headers, json } = await pushing.send(toNdjson([order(1)]))
    expect([status, headers['retry-after'], json.error.code]).toEqual([
      503,
      '1',
      'service_unavailable',
    ])
    expect(json.error.message).toContain('Outro processo grava os pedidos agora')
    expect(json.error.message).toContain('ou serve, com pedidos enviados')
    indices.pop()
    await watch.close()
    expect(await pushing.push(order(1))).toEqual(['ord_1 written'])
  })

  it('calls wait for a load; more than eight at a time are refused', async () => {
    const load = await openOther('load')
    const calls = Array.from({ length: 8 }, () => pushing.push(order(1)))
    const { status, json } = await pushing.send(toNdjson([order(1)]))
    expect([status, json.error.message]).toEqual([503, expect.stringContaining('ao mesmo tempo')])
    indices.pop()
    await load.close()
    const results = await Promise.all(calls)
    expect(results.flat().filter((result) => result.endsWith('written'))).toHaveLength(1)
    expect(await pushing.push(order(1))).toEqual(['ord_1 older'])
  })

  it('a load becomes the writer once no call arrives, and a watch once the API has closed', async () => {
    await pushing.push(order(1))
    const load = await openOther('load')
    indices.pop()
    await load.close()
    expect(await pushing.push(order(2))).toEqual(['ord_1 unchanged'])
    await pushing.close()
    await openOther('watch')
  })
})

it('a client that expects 100 Continue, as curl does, sends its body after it', async () => {
  await pushing.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = pushing.app.server.address() as AddressInfo
  const body = toNdjson(Array.from({ length: 1_000 }, (_, n) => order(1, { id: `ord_${n}` })))
  const headers = {
    authorization: `Bearer ${ADMIN}`,
    'content-type': NDJSON,
    'content-length': Buffer.byteLength(body),
    expect: '100-continue',
  }
  const answer = await new Promise<string>((resolve, reject) => {
    const call = request({ port, method: 'POST', path: '/v1/source-orders', headers })
    call.on('continue', () => call.end(body))
    call.on('response', (response) => resolve(text(response)))
    call.on('error', reject)
    call.flushHeaders()
  })
  expect(JSON.parse(answer)).toMatchObject({ refused: 0, data: { length: 1_000 } })
})
