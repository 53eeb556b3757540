import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSocket, readResponses } from '../support/http/raw-http.ts'
import { createTestApp, ROOMY, type TestApp } from '../support/http/test-app.ts'
import { sourceOrder } from '../support/orders/source-order.ts'

const ACCOUNTS = ['acc_1', 'acc_2', 'acc_3']
const ORDERS = 90
const QUERIES = ['limit=20', 'limit=20&sort=updated_at_asc', 'limit=7', 'limit=90']
const ROUNDS = 5

interface Call {
  request: string
  body: string
}

let app: TestApp
let port: number
/** A call of each account and query, with its body when it is alone. */
const calls: Call[] = []

beforeAll(async () => {
  app = await createTestApp(ROOMY)
  await app.load(
    Array.from({ length: ORDERS * ACCOUNTS.length }, (_, at) =>
      sourceOrder({ id: `ord_${at}`, owner_account_id: ACCOUNTS[at % ACCOUNTS.length] ?? '' }),
    ),
  )
  await app.app.listen({ port: 0 })
  port = (app.app.server.address() as AddressInfo).port
  for (const account of ACCOUNTS) {
    const authorization = `Bearer ${(await app.issue({ accountId: account })).key}`
    for (const query of QUERIES) {
      const path = `/v1/orders?${query}`
      const alone = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization } })
      const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n\r\n`
      calls.push({ request, body: await alone.text() })
    }
  }
})
afterAll(() => app.close())

/** Sends the requests at once on one connection, and reads the responses piece by piece. */
async function readBodies(requests: readonly string[]): Promise<string[]> {
  const socket = await openSocket(port)
  socket.write(requests.join(''))
  socket.on('data', async () => {
    socket.pause()
    await nextTurn()
    socket.resume()
  })
  return (await readResponses(socket, requests.length)).map(({ body }) => body)
}

describe('pages of many connections at once', () => {
  it('are those of a page alone, also pipelined, read slowly, and beside clients that leave', async () => {
    expect(new Set(calls.map(({ body }) => body)).size).toBe(calls.length)
    for (let round = 0; round < ROUNDS; round += 1) {
      const leaving = calls.map(async ({ request }) => {
        const socket = await openSocket(port)
        socket.write(request)
        await nextTurn()
        socket.destroy()
      })
      const read = calls.map(async (call, at) => {
        const next = calls[(at + round) % calls.length] ?? call
        expect(await readBodies([call.request, next.request])).toEqual([call.body, next.body])
      })
      await Promise.all([...leaving, ...read])
    }
  })
})
