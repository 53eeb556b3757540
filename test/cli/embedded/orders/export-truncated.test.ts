import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ConnectionError, createOrdersClient } from '../../../../src/client/client.ts'
import { ResumableError } from '../../../../src/orders-cli/errors.ts'
import { createFormat } from '../../../../src/orders-cli/export/formats/format.ts'
import { openPartFile } from '../../../../src/orders-cli/export/part-file.ts'
import { exportToFile } from '../../../../src/orders-cli/export/write.ts'
import { apiOrder } from '../../../support/orders-cli/api-order.ts'
import { createTestFolder } from '../../../support/stores/test-folder.ts'

let folder: string
let server: Server
beforeEach(async () => {
  folder = createTestFolder()
  // Returns the first page, and cuts the connection in the middle of the next.
  server = createServer((request, reply) => {
    reply.setHeader('request-id', 'req_1')
    if (!request.url?.startsWith('/v1/orders')) return void reply.writeHead(404).end()
    const page = { object: 'list', data: [apiOrder()], has_more: true, next_cursor: 'next' }
    if (!request.url.includes('cursor')) return void reply.end(JSON.stringify(page))
    reply.setHeader('content-length', 1_000)
    reply.write('{"object":"list"', () => reply.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(() => {
  server.close()
})

it('orders export fails when its retries are exhausted, and can be resumed', async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const file = join(folder, 'all.ndjson')
  const request = { url, filters: {}, format: 'ndjson', rows: 'orders' }
  const part = await openPartFile(file, request, false, folder)
  const job = {
    client: createOrdersClient({ baseUrl: url, apiKey: 'key_live_1', retryForMs: 0 }),
    filters: {},
    format: createFormat('ndjson', { rows: 'orders', headers: 'api' }),
    progress: { update() {}, wait() {}, fail() {}, recover() {} },
    part,
    file,
    resumeCommand: ['orders', 'export', '--resume'],
  }
  const status = { show() {}, clear() {}, printLine() {} }
  const stream = { isTTY: false, columns: 0, write() {} }
  const signal = new AbortController().signal
  const program = ['orders']
  const context = { program, cwd: folder, env: {}, stdout: stream, stderr: stream, signal, status }
  const error = await exportToFile(job, context).catch((reason: unknown) => reason)
  await part.close()
  expect(error).toBeInstanceOf(ResumableError)
  const { cause, hint } = error as ResumableError
  expect(cause).toBeInstanceOf(ConnectionError)
  expect(hint).toContain('Para continuar:\n  orders export --resume')
  expect(existsSync(file)).toBe(false)
  expect(readFileSync(`${file}.part`, 'utf8')).toBe(`${JSON.stringify(apiOrder())}\n`)
  const resumed = await openPartFile(file, request, true, folder)
  await resumed.close()
  expect(resumed.state()).toMatchObject({ cursor: 'next', orders: 1 })
})
