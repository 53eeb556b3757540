import { once } from 'node:events'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { HOST, startProxy } from '../support/http/proxy.ts'
import { openSocket, readResponses, sendRaw } from '../support/http/raw-http.ts'
import { openServedStore, type Served, type ServedStore } from '../support/stores/served-store.ts'

const REQUEST = `GET /x HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`
/** Idle connections outlast the test. */
const PATIENT = { EDGE_HEADERS_TIMEOUT: '10m' }

let store: ServedStore
let service: Served
beforeAll(async () => {
  store = openServedStore()
  service = await store.serve()
})
afterAll(() => store.close())

/** Starts the edge for one test, with at most `count` connections of an address. */
async function startEdge(count: number, settings: Record<string, string> = {}) {
  const edge = await startProxy([service], {
    EDGE_CONNECTIONS_PER_ADDRESS: `${count}`,
    ...settings,
  })
  onTestFinished(edge.stop)
  return edge
}

/** The statuses of a request on this connection: none where the edge closed it. */
async function statusesOn(socket: Socket): Promise<number[]> {
  socket.write(REQUEST)
  return (await readResponses(socket, 1)).map(({ status }) => status)
}

/** Keeps a connection open until the end of the test. */
function hold<S extends Socket>(socket: S): S {
  onTestFinished(() => void socket.destroy())
  return socket
}

/** Keeps a connection open. The edge has counted it, since it has responded. */
async function occupy(socket: Socket): Promise<void> {
  hold(socket).write(REQUEST)
  await once(socket, 'data')
}

it('an address at its limit gets no further connection to the TLS port until it closes one', async () => {
  const edge = await startEdge(2)
  const open = [await edge.open(), await edge.open()]
  for (const socket of open) await occupy(socket)
  await expect(edge.open()).rejects.toThrow()
  open[0]?.destroy()
  await expect.poll(() => edge.open().then(statusesOn, () => [])).toEqual([404])
})

it('a connection counts before its TLS handshake', async () => {
  const edge = await startEdge(1)
  // Its threads may count the second connection first, and refuse the other one: so repeat both.
  const refusesSecond = async () => {
    const first = hold(await openSocket(edge.httpsPort)).on('error', () => {})
    const statuses = await edge.open().then(statusesOn, () => [])
    return statuses.length === 0 && !first.closed
  }
  await expect.poll(refusesSecond).toBe(true)
})

it('an address at its limit at the plain port gets no further connection there, but to the TLS port', async () => {
  const edge = await startEdge(2, PATIENT)
  for (let opened = 0; opened < 2; opened++) hold(await openSocket(edge.httpPort))
  await expect.poll(() => sendRaw(edge.httpPort, REQUEST)).toEqual([])
  expect(await statusesOn(await edge.open())).toEqual([404])
})

it('the plain port closes the connection after its response', async () => {
  const edge = await startEdge(100)
  const responses = await sendRaw(edge.httpPort, REQUEST)
  expect(responses.map(({ status }) => status)).toEqual([400])
})

it.each([
  ['an address', '192.0.2.1', '192.0.2.1', []],
  ['each address separately', '192.0.2.1', '192.0.2.2', [404]],
  ['the /64 of IPv6', '2001:db8:1:1::1', '2001:db8:1:1:f:f:f:f', []],
  ['each /64 separately', '2001:db8:1:1::1', '2001:db8:1:2::1', [404]],
  ['an IPv4-mapped address as IPv4', '192.0.2.1', '::ffff:192.0.2.1', []],
  ['an address behind NAT64', '64:ff9b::c000:201', '64:ff9b::c000:201', []],
  ['each address behind NAT64 separately', '64:ff9b::c000:201', '64:ff9b::c000:202', [404]],
])(
  'behind a load balancer with PROXY protocol, the connection limit counts %s',
  async (_, first, second, expected) => {
    const edge = await startEdge(1, { EDGE_PROXY_PROTOCOL_FROM: '127.0.0.1' })
    await occupy(await edge.openFrom(first))
    expect(await statusesOn(await edge.openFrom(second))).toEqual(expected)
  },
)

it('the edge logs the requests of the connection that reached the limit, and no others', async () => {
  const edge = await startEdge(2)
  for (let opened = 0; opened < 2; opened++) await occupy(await edge.open())
  await expect.poll(edge.log).toContain('"status":404,"refused":"connections"')
  expect((await edge.log()).match(/"frontend":"tls"/g)).toHaveLength(1)
})
