import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { captureLog } from '../../support/http/captured-log.ts'
import { metricIn } from '../../support/http/metric.ts'
import { openSocket } from '../../support/http/raw-http.ts'
import { ADMIN, READER } from '../../support/management/build-management.ts'
import { useManagementApi } from '../../support/management/management-api.ts'
import { createEndpoint } from '../../support/management/webhook-endpoints.ts'

const { logger, lines } = captureLog()
const test = useManagementApi({ logger })

const metric = async (series: string) => metricIn(await test.api.registry.metrics(), series)
const requests = (method: string, route: string, status: number) =>
  metric(`management_request_seconds_count{method="${method}",route="${route}",status="${status}"}`)

it('the metrics count requests by route and status, and rejected tokens', async () => {
  await test.api.get('/accounts/acc_metrics/keys')
  await test.api.get('/accounts/acc_other/keys')
  await test.api.post('/accounts/acc_metrics/keys')
  await test.api.get('/nothing')
  await test.api.get('/audit', { token: 'wrong' })
  expect(await requests('GET', '/v1/accounts/:account/keys', 200)).toBe(2)
  expect(await requests('POST', '/v1/accounts/:account/keys', 201)).toBe(1)
  expect(await requests('GET', 'none', 404)).toBe(1)
  expect(await requests('GET', '/v1/audit', 401)).toBe(1)
  expect(await metric('management_rejected_tokens_total')).toBe(1)
  expect(await test.api.registry.metrics()).not.toContain('acc_metrics')
})

it('the log has one line a request, without tokens, keys, secrets, links and bodies', async () => {
  lines.length = 0
  const created = await test.api.post('/accounts/acc_1/keys', { name: 'the-name' })
  const endpoint = await createEndpoint(test.api)
  const path = `/accounts/acc_1/webhook-endpoints/${endpoint.id}`
  const rolled = await test.api.post(`${path}/roll-secret`)
  await test.api.postOnce('/accounts/acc_1/keys', 'the-idempotency-key')
  await test.api.get('/audit', { token: 'wrong-token' })
  await test.api.get('/audit', { token: READER })
  await test.api.get(`/audit?token=${ADMIN}`)
  await test.api.call('POST', '/accounts/acc_1/keys', {
    headers: { 'content-type': 'application/json' },
    body: `{"${created.json.key}": `,
  })
  const text = lines.join('')
  expect(lines).toHaveLength(8)
  const secrets = [
    ...[ADMIN, READER, 'wrong-token', 'the-name', 'the-idempotency-key'],
    ...[created.json.key, endpoint.secret, rolled.json.secret, 'receiver.example'],
  ]
  for (const secret of secrets) expect(text).not.toContain(secret)
  expect(text).toContain(created.headers['request-id'])
})

it('the log names the token of a request, and none for a wrong one', async () => {
  lines.length = 0
  await test.api.post('/accounts/acc_1/keys')
  await test.api.get('/audit', { token: READER })
  await test.api.get('/audit', { token: 'wrong-token' })
  const names = lines.map((line) => JSON.parse(line).token_name)
  expect(names).toEqual(['platform', 'support', undefined])
})

it('the log has no failure for a client that disconnects within its body', async () => {
  lines.length = 0
  const socket = await openSocket(await test.api.listen())
  const received = once(test.api.app.server, 'request')
  socket.write('POST /v1/accounts/acc_1/keys HTTP/1.1\r\nHost: localhost\r\n')
  socket.write(`Authorization: Bearer ${ADMIN}\r\nContent-Type: application/json\r\n`)
  socket.write('Content-Length: 100\r\n\r\n{')
  const [request] = (await received) as [IncomingMessage]
  await expect.poll(() => request.listenerCount('data')).toBe(1) // The body is being read.
  socket.resetAndDestroy()
  await expect.poll(() => request.errored).not.toBeNull()
  await setImmediate()
  expect(lines.filter((line) => line.includes('"failed"'))).toEqual([])
})

it('no cache stores a response, which may carry a key or a secret', async () => {
  const responses = [
    await test.api.post('/accounts/acc_1/keys'),
    await test.api.postOnce('/accounts/acc_1/keys', 'cached'),
    await test.api.postOnce('/accounts/acc_1/keys', 'cached'),
    await test.api.get('/audit'),
    await test.api.get('/nothing'),
  ]
  for (const { headers } of responses) expect(headers['cache-control']).toBe('no-store')
})

it('neither keys nor secrets are in the audit log or among the idempotent requests', async () => {
  const path = '/accounts/acc_stored'
  const created = await test.api.postOnce(`${path}/keys`, 'stored')
  const endpoint = await test.api.postOnce(`${path}/webhook-endpoints`, 'stored', {
    url: 'https://receiver.example/hooks',
  })
  await test.api.refresh()
  const entries = await test.api.get('/audit?account_id=acc_stored')
  const again = await test.api.postOnce(`${path}/keys`, 'stored')
  for (const { text } of [entries, again]) {
    expect(text).not.toContain(created.json.key)
    expect(text).not.toContain(endpoint.json.secret)
  }
})
