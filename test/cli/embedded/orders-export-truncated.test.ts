import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ConnectionError, createOrdersClient } from '../../../src/client/client.ts'
import { createFormat } from '../../../src/orders-command/export/formats/format.ts'
import { openPartFile } from '../../../src/orders-command/export/part-file.ts'
import { exportToFile } from '../../../src/orders-command/export/to-file.ts'
import { Unfinished } from '../../../src/orders-command/faults.ts'
import { apiOrder } from '../../support/orders-cli/orders-order.ts'
import { temporaryFolder } from '../../support/stores/backend.ts'

let folder: string
let remove: () => void
let server: Server
beforeEach(async () => {
  ;({ folder, remove } = temporaryFolder())
  // Answers for the first page, and hangs up in the middle of the next.
  server = createServer((request, reply) => {
    reply.setHeader('request-id', 'req_1')
    const page = { object: 'list', data: [apiOrder()], has_more: true, next_cursor: 'next' }
    if (!request.url?.includes('cursor')) return void reply.end(JSON.stringify(page))
    reply.setHeader('content-length', 1_000)
    reply.write('{"object":"list"', () => reply.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(() => {
  server.close()
  remove()
})

it('a connection that stays cut for longer than is worth waiting ends an export, which can go on', async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const file = join(folder, 'all.ndjson')
  const request = { url, filters: {}, format: 'ndjson', rows: 'orders' }
  const part = await openPartFile(file, request, false)
  const work = {
    client: createOrdersClient({ baseUrl: url, apiKey: 'key_live_1', retryForMs: 0 }),
    filters: {},
    format: createFormat('ndjson', 'orders'),
    progress: { update() {}, wait() {} },
    part,
    file,
    again: ['orders', 'export', '--resume'],
  }
  const status = { show() {}, clear() {}, printLine() {} }
  const context = { env: {}, signal: new AbortController().signal, status }
  const error = await exportToFile(work, context).catch((reason: unknown) => reason)
  await part.close()
  expect(error).toBeInstanceOf(Unfinished)
  const { cause, hint } = error as Unfinished
  expect(cause).toBeInstanceOf(ConnectionError)
  expect(hint).toContain('Para continuar:\n  orders export --resume')
  expect(existsSync(file)).toBe(false)
  expect(readFileSync(`${file}.part`, 'utf8')).toBe(`${JSON.stringify(apiOrder())}\n`)
  expect((await openPartFile(file, request, true)).state()).toMatchObject({
    cursor: 'next',
    orders: 1,
  })
})
