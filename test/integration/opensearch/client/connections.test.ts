import { afterEach, describe, expect, it, vi } from 'vitest'
import { Unavailable } from '../../../../src/lib/errors/unavailable.ts'
import {
  ClientDisconnected,
  type RequestScope,
  unbounded,
} from '../../../../src/lib/request-scope.ts'
import { ORDER_SCHEMA_VERSION } from '../../../../src/orders/order.ts'
import {
  connectOpenSearch,
  readRaw,
  write,
} from '../../../../src/stores/opensearch/client/client.ts'
import {
  GENEROUS_MS,
  SHORT_MS,
  thrownBy,
  useScriptedNodes,
} from '../../../support/stores/scripted/scripted-nodes.ts'
import {
  reset,
  resetInBody,
  respond,
  respondError,
  respondText,
  stall,
  unreachableUrl,
} from '../../../support/stores/scripted/scripted-server.ts'

const { serve, connect } = useScriptedNodes()
afterEach(() => {
  vi.useRealTimers()
})

const order = { id: 'ord_1' }
const ORDER = JSON.stringify(order)
const found = respond(200, {
  found: true,
  _seq_no: 4,
  _primary_term: 1,
  _source: {
    account_id: 'acc_1',
    id: 'ord_1',
    shape: ORDER_SCHEMA_VERSION,
    updated_key: 2000,
    order,
  },
})
const empty = respond(200, {
  timed_out: false,
  _shards: { total: 1, successful: 1, skipped: 0, failed: 0 },
  hits: { hits: [] },
})
/** For a deadline that another node must keep, also on a busy machine. */
const BUSY_MS = 5 * SHORT_MS
const text = (bytes: Uint8Array | null) => bytes && Buffer.from(bytes).toString()

describe('a connection that breaks', () => {
  it.each([
    ['before the response', reset],
    ['within the response', resetInBody],
  ])('the client retries a read whose connection breaks %s', async (_when, behaviour) => {
    const { url, received } = await serve(behaviour, found)
    expect(text(await connect([url]).get())).toBe(ORDER)
    expect(received).toHaveLength(2)
  })

  it.each([
    ['before the response', reset],
    ['within the response', resetInBody],
  ])('the client retries a read only once when connections break %s', async (_when, behaviour) => {
    const { url, received } = await serve(behaviour, behaviour, found)
    expect(await thrownBy(connect([url]).get())).toBeInstanceOf(Unavailable)
    expect(received).toHaveLength(2)
  })

  it.each([
    ['before the response', reset],
    ['within the response', resetInBody],
  ])('the client does not retry a write whose connection breaks %s', async (_when, behaviour) => {
    const { url, received } = await serve(behaviour, respond(200, { _seq_no: 1 }))
    expect(await thrownBy(connect([url]).write())).toBeInstanceOf(Unavailable)
    expect(received).toHaveLength(1)
  })

  it.each([
    ['503', respondError(503, 'cluster_block_exception')],
    ['truncated JSON', respondText(200, '{"found":tr')],
  ])('the client does not retry a response of %s', async (_what, bad) => {
    const { url, received } = await serve(bad, found)
    expect(await thrownBy(connect([url]).get())).toBeInstanceOf(Unavailable)
    expect(received).toHaveLength(1)
  })
})

describe('a caller that disconnected', () => {
  const gone: RequestScope = {
    ...unbounded,
    onDisconnect(stop) {
      stop()
      return () => {}
    },
  }

  it('sends no request, and closes no connection', async () => {
    const { url, received } = await serve(found)
    const { client, get } = connect([url])
    await get()
    const call = readRaw(client, GENEROUS_MS, { path: '/orders/_doc/1' }, gone)
    expect(await thrownBy(call)).toBeInstanceOf(ClientDisconnected)
    await get()
    expect(received).toHaveLength(2)
    expect(new Set(received.map(({ remotePort }) => remotePort)).size).toBe(1)
  })
})

describe('two nodes', () => {
  it.each([
    ['the first', (dead: string, alive: string) => [dead, alive]],
    ['the second', (dead: string, alive: string) => [alive, dead]],
  ])('the other node responds to every read when %s does not listen', async (_which, ordered) => {
    const { url } = await serve(found)
    const { get } = connect(ordered(await unreachableUrl(), url))
    for (let time = 0; time < 5; time++) expect(text(await get())).toBe(ORDER)
  })

  it('the second of two nodes responds when the first resets the connection', async () => {
    const broken = await serve(reset)
    const { url } = await serve(found)
    const { get } = connect([broken.url, url])
    for (let time = 0; time < 5; time++) expect(text(await get())).toBe(ORDER)
    expect(broken.received.length).toBeLessThanOrEqual(1)
  })

  it('a node that failed gets requests again once it responds', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const [first, second] = [await serve(reset, found), await serve(reset, found)]
    const { get } = connect([first.url, second.url])
    await thrownBy(get())
    expect(text(await get())).toBe(ORDER)
    vi.setSystemTime(Date.now() + 60_000)
    for (const node of [first, second]) {
      const before = node.received.length
      const received = async () => (await get()) && node.received.length
      await expect.poll(received).toBeGreaterThan(before + 1)
    }
  })

  it('a node that failed many requests at once gets requests again within a minute', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const failures = 8
    const { url, received } = await serve(...Array(failures).fill(reset), found)
    const other = await serve(found)
    const { get } = connect([url, other.url])
    await Promise.all(Array.from({ length: 2 * failures }, get))
    expect(received).toHaveLength(failures)
    vi.setSystemTime(Date.now() + 60_000)
    const total = async () => (await get()) && received.length
    await expect.poll(total).toBeGreaterThan(failures + 1)
  })

  it('a node that never responds gets one ping at a time', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const stalled = await serve(reset, stall)
    const { url } = await serve(found)
    const { get } = connect([stalled.url, url])
    for (let time = 0; time < 2; time++) await get()
    expect(stalled.received).toHaveLength(1)
    vi.setSystemTime(Date.now() + 60_000)
    for (let time = 0; time < 5; time++) await get()
    await expect.poll(() => stalled.received.length).toBeGreaterThan(1)
    await get()
    expect(stalled.received).toHaveLength(2)
  })

  it('the client uses the second node after the first one stalls', async () => {
    const stalled = await serve(stall)
    const { url } = await serve(found)
    const { get } = connect([stalled.url, url], { deadlineMs: BUSY_MS })
    await thrownBy(get())
    await thrownBy(get())
    await expect.poll(() => get().then(text, String)).toBe(ORDER)
    expect(stalled.received.length).toBeLessThanOrEqual(1)
  })

  it('a call with less than the whole deadline does not mark its node as failed', async () => {
    const nodes = [await serve(stall, found), await serve(stall, found)]
    const { client, get } = connect(nodes.map(({ url }) => url))
    const late = { ...unbounded, remainingMs: () => BUSY_MS }
    for (const _ of nodes) {
      const call = readRaw(client, GENEROUS_MS, { path: '/orders/_doc/1' }, late)
      expect(await thrownBy(call)).toBeInstanceOf(Unavailable)
    }
    for (let time = 0; time < 4; time++) expect(text(await get())).toBe(ORDER)
    expect(nodes.map(({ received }) => received.length)).toEqual([3, 3])
  })
})

it('the client prefixes every request with the path of the address', async () => {
  const { url, received } = await serve(empty, empty, found)
  const { findPage, latestWrite, get } = connect([`${url}/search/cluster`])
  await findPage()
  await latestWrite()
  await get()
  for (const { path } of received) expect(path).toMatch(/^\/search\/cluster\/orders\//)
})

describe('the credentials of an address', () => {
  const sentAuthorization = async (address: (url: string) => string[]) => {
    const { url, received } = await serve(found)
    await connect(address(url)).get()
    return received[0]?.headers.authorization
  }
  const withCredentials = (url: string) => url.replace('//', '//us%40er:hunter%2F2@')
  const BASIC = `Basic ${btoa('us@er:hunter/2')}`

  it('the client decodes credentials from the address before it sends them', async () => {
    expect(await sentAuthorization((url) => [withCredentials(url)])).toBe(BASIC)
  })

  it('the client sends credentials to all nodes when one address has them', async () => {
    const dead = await unreachableUrl()
    expect(await sentAuthorization((url) => [url, withCredentials(dead)])).toBe(BASIC)
    expect(await sentAuthorization((url) => [dead, withCredentials(url)])).toBe(BASIC)
  })

  it('the client sends no authorization header without credentials', async () => {
    expect(await sentAuthorization((url) => [url])).toBeUndefined()
  })
})

describe('a client that is closed', () => {
  it('closing the client aborts requests in flight', async () => {
    const { url, received } = await serve(stall)
    const client = connectOpenSearch({ urls: [url] })
    const call = write(GENEROUS_MS, (options) => client.info({}, options))
    await expect.poll(() => received.length).toBe(1)
    await client.close()
    expect(await thrownBy(call)).toBeInstanceOf(Unavailable)
  })
})
