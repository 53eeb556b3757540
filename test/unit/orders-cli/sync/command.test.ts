import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { parseInterval } from '../../../../src/orders-cli/sync/command.ts'
import { apiOrder } from '../../../support/orders-cli/api-order.ts'
import { runOrders } from '../../../support/orders-cli/orders-cli.ts'
import { createTestFolder } from '../../../support/stores/test-folder.ts'

it.each([
  ['1s', 1_000],
  ['90s', 90_000],
  ['5m', 300_000],
  ['2h', 7_200_000],
  ['7d', 604_800_000],
  ['0s', null],
  ['8d', null],
  ['60', null],
  ['1.5h', null],
  ['-5s', null],
  ['', null],
])('--interval %s is parsed as %s milliseconds', (text, ms) => {
  expect(parseInterval(text)).toBe(ms)
})

it('orders sync prints no control character of a date that a server sent', async () => {
  const order = apiOrder({ updated_at: '2026-03-01 (\u001b[2J\u202e)' })
  const list = { object: 'list', data: [order], has_more: false, next_cursor: null }
  const account = { object: 'account', id: 'acc_1', test: false, key: { scopes: [] } }
  const server = createServer(({ url }, response) =>
    response.end(JSON.stringify(url?.startsWith('/v1/orders') ? list : account)),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const env = { ORDERS_API_URL: url, ORDERS_API_KEY: 'key' }
  const { code, stdout, stderr } = await runOrders(['sync', 'copy'], {
    cwd: createTestFolder(),
    env,
  })
  server.close()
  expect(code, stderr).toBe(0)
  expect(stdout).toContain('até 2026-03-01 (\ufffd[2J\ufffd)')
})
