import { Agent, fetch as undiciFetch } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  ConnectionError,
  createOrdersClient,
  EdgeError,
  type Wait,
} from '../../src/client/client.ts'
import { type ProxyUnderTest, startProxy } from '../support/http/proxy.ts'
import { collect } from '../support/orders/collect.ts'
import { sourceOrder } from '../support/orders/source-order.ts'
import { openServedStore, type Served, type ServedStore } from '../support/stores/served-store.ts'

const ORDERS = 6
/** The volume limit of the edge per address. */
const VOLUME = { EDGE_VOLUME_REQUESTS: '4', EDGE_VOLUME_SECONDS: '2' }

let store: ServedStore
let service: Served
let edge: ProxyUnderTest
let key: string

beforeAll(async () => {
  store = openServedStore()
  await store.load(Array.from({ length: ORDERS }, (_, at) => sourceOrder({ id: `ord_${at}` })))
  key = await store.createKey('acc_1')
  service = await store.serve()
})
afterAll(async () => {
  await edge.stop()
  await store.close()
})

/** A client that trusts the test certificate of the edge and logs its waits. */
async function connect(settings: Record<string, string> = {}) {
  await edge?.stop()
  edge = await startProxy([service], { EDGE_REFUSE_LOCALHOST: 'no', ...settings })
  const waits: Wait[] = []
  const dispatcher = new Agent({ connect: { ca: edge.ca } })
  const trusting = (url: string, init: object) => undiciFetch(url, { ...init, dispatcher })
  const client = createOrdersClient({
    baseUrl: `https://localhost:${edge.httpsPort}`,
    apiKey: key,
    fetch: trusting as unknown as typeof fetch,
    onWait: (wait) => waits.push(wait),
  })
  return { ...client.orders, waits }
}

describe('the client behind the edge', () => {
  it('the client waits for the Retry-After of the edge and lists every order', async () => {
    const orders = await connect(VOLUME)
    expect(await collect(orders.list({ limit: 1 }))).toHaveLength(ORDERS)
    const edgeErrors = orders.waits.filter(({ error }) => error instanceof EdgeError)
    expect(edgeErrors.length).toBeGreaterThan(0)
    expect(edgeErrors.map(({ waitMs }) => waitMs)).toEqual(edgeErrors.map(() => 2_000))
  })

  it('the client reports a 403 of the firewall without a retry', async () => {
    const orders = await connect()
    const call = collect(orders.list({ cursor: '../../etc/passwd' }))
    await expect(call).rejects.toMatchObject({ name: 'EdgeError', status: 403, requestId: null })
    expect(orders.waits).toEqual([])
  })

  it('the client waits for a service that is down', async () => {
    const orders = await connect()
    await orders.get('ord_0')
    await service.stop('SIGKILL')
    const answer = orders.get('ord_1')
    await expect.poll(() => orders.waits.length).toBeGreaterThan(0)
    service = await store.serve({
      PORT: `${service.port}`,
      OPERATIONS_PORT: `${service.operationsPort}`,
    })
    expect(await answer).toMatchObject({ id: 'ord_1' })
    expect(orders.waits[0]?.error).toMatchObject({ name: 'EdgeError' })
  })

  it('the client reports that plain HTTP must be HTTPS', async () => {
    await connect()
    const { orders } = createOrdersClient({
      baseUrl: `http://127.0.0.1:${edge.httpPort}`,
      apiKey: key,
    })
    await expect(orders.get('ord_0')).rejects.toMatchObject({
      name: 'EdgeError',
      status: 400,
      message: expect.stringMatching(/só atende por HTTPS.*troque a chave/),
    })
  })

  it('the client sends no key to a server with an untrusted certificate', async () => {
    await connect()
    const { orders } = createOrdersClient({
      baseUrl: `https://127.0.0.1:${edge.httpsPort}`,
      apiKey: key,
    })
    const error = await orders.get('ord_0').catch((reason) => reason)
    expect(error).toBeInstanceOf(ConnectionError)
    expect(error).toMatchObject({
      isFinal: true,
      message: expect.stringMatching(/não é confiável/),
    })
  })
})
