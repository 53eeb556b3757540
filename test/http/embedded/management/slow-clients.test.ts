import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connectionTrackerOf } from '../../../../src/http/server/connection-tracker.ts'
import { openSocket, readResponses, sendRaw } from '../../../support/http/raw-http.ts'
import { ADMIN } from '../../../support/management/build-management.ts'
import {
  type ManagementApi,
  openManagementApi,
} from '../../../support/management/management-api.ts'

const MAX_CONNECTIONS = 20

let api: ManagementApi
let port: number
const opened: Socket[] = []
beforeEach(async () => {
  const limits = { headersMs: 1_000, requestMs: 2_000, maxConnections: MAX_CONNECTIONS }
  api = await openManagementApi({ limits })
  port = await api.listen()
})
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy()
  await api.close()
})

async function openMany(count: number): Promise<Socket[]> {
  const sockets = await Promise.all(Array.from({ length: count }, () => openSocket(port)))
  for (const socket of sockets) socket.on('error', () => {})
  opened.push(...sockets)
  return sockets
}

const head = (line: string, ...headers: string[]) =>
  [
    `${line} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${ADMIN}`,
    ...headers,
    '',
    '',
  ].join('\r\n')
const GET = head('GET /v1/sandbox-scenarios')
const post = (framing: string) =>
  head('POST /v1/accounts/acc_1/keys', 'Content-Type: application/json', framing)
const STALLED = `${post('Content-Length: 100')}{`
const MALFORMED_BODY = `${post('Transfer-Encoding: chunked')}ZZ\r\n`

const statuses = async (bytes: string) => (await sendRaw(port, bytes)).map(({ status }) => status)
const openCount = () => connectionTrackerOf(api.app.server).open.size

describe('a client of the management API', () => {
  it('that never closes its side of a rejected connection loses it', async () => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    opened.push(socket)
    await once(socket, 'connect')
    socket.write('garbage\r\n\r\n')
    await once(socket.resume(), 'end')
    await expect.poll(openCount).toBe(0)
  })

  it('that sends nothing gets 400 at the header timeout', async () => {
    expect(await statuses('')).toEqual([400])
  })

  it('that stalls within its body gets 400 at the request timeout', async () => {
    const [response, ...others] = await sendRaw(port, STALLED)
    expect(response).toMatchObject({ status: 400, headers: { connection: 'close' } })
    const { error } = JSON.parse(response?.body ?? '')
    expect(error.code).toBe('invalid_request')
    expect(error.request_id).toBe(response?.headers['request-id'])
    expect(others).toEqual([])
    await expect.poll(openCount).toBe(0)
  })

  it('that sends a malformed body gets 400 after the responses to its earlier requests', async () => {
    expect(await statuses(`${GET.repeat(2)}${MALFORMED_BODY}`)).toEqual([200, 200, 400])
  })

  it('that sends a malformed body for a call that is refused gets one response', async () => {
    const refused = MALFORMED_BODY.replace(ADMIN, 'wrong')
    expect(await statuses(refused)).toHaveLength(1)
  })

  it('that expects 100-continue may send its body', async () => {
    const [socket] = (await openMany(1)) as [Socket]
    socket.write(post('Content-Length: 2\r\nExpect: 100-continue'))
    expect(String((await once(socket, 'data'))[0])).toContain('100 Continue')
    socket.write('{}')
    expect(await readResponses(socket, 1)).toMatchObject([{ status: 201 }])
  })
})

describe('connections of the management API over the limit', () => {
  it('evict the longest-idle connections', async () => {
    await openMany(3 * MAX_CONNECTIONS)
    await expect.poll(openCount).toBe(MAX_CONNECTIONS)
    expect((await sendRaw(port, GET, 1))[0]?.status).toBe(200)
  })

  it('evict the connections of stalled bodies when no other is idle', async () => {
    for (const socket of await openMany(MAX_CONNECTIONS)) socket.write(STALLED)
    await expect.poll(() => connectionTrackerOf(api.app.server).idle.size).toBe(0)
    expect((await sendRaw(port, GET, 1))[0]?.status).toBe(200)
  })
})
