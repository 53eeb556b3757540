import { hash } from 'node:crypto'
import { expect } from 'vitest'
import { type BackgroundProcess, startBackground } from '../cli/background-process.ts'
import { sourceOrder } from '../orders/source-order.ts'

const TOKEN = 'token_of_the_tests'
const ACCOUNT = '/v1/accounts/acc_1'

/** `serve` with the management API and the console, in a separate process. */
export function startWholeService(env: Record<string, string>): BackgroundProcess {
  const settings = {
    PORT: '0',
    MANAGEMENT_PORT: '0',
    CONSOLE_PORT: '0',
    RATE_LIMIT_CAPACITY: '1000',
    MANAGEMENT_TOKENS: `tests:admin:${hash('sha256', TOKEN)}`,
  }
  return startBackground(['serve'], { ...settings, ...env })
}

/** Sends one request of each kind to all ports; each must succeed. */
export async function callService(service: BackgroundProcess, key: string): Promise<void> {
  const portOf = async (text: string) =>
    (await service.waitForLog(text)).msg.split(' ').at(-1) ?? ''
  const [api, management] = [await portOf('Server listening'), await portOf('management at')]

  async function call(method: string, url: string, headers: object, body?: object) {
    const type = body && { 'content-type': 'application/json' }
    const response = await fetch(url, {
      method,
      headers: { ...headers, ...type },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    expect(response.ok, `${method} ${url}: ${response.status} ${text}`).toBe(true)
    return { json: text === '' ? null : JSON.parse(text), response }
  }
  const read = (path: string) => call('GET', api + path, { authorization: `Bearer ${key}` })
  const manage = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'idempotency-key': crypto.randomUUID() }
    return (await call(method, management + path, headers, body)).json
  }

  for (const sort of ['created_at_desc', 'updated_at_asc']) {
    await read(`/v1/orders?sort=${sort}&limit=1`)
    await read(`/v1/orders?sort=${sort}&paid_gte=2026-01-01T00:00:00Z`)
  }
  // So many that some are in the same turn of the event loop, whose searches share a request.
  for (let round = 0; round < 10; round += 1) {
    await Promise.all(Array.from({ length: 8 }, () => read('/v1/orders?limit=1')))
  }
  await read('/v1/orders/ord_1')
  await read('/v1/account')
  await expect.poll(() => service.operations('/health/ready')).toContain('"status":"ok"')

  await manage('POST', '/v1/source-orders', [sourceOrder({ id: 'ord_5' })])
  const { id } = await manage('POST', `${ACCOUNT}/keys`, {})
  await manage('POST', `${ACCOUNT}/keys/${id}/revoke`, {})
  await manage('GET', `${ACCOUNT}/keys`)
  await manage('PUT', `${ACCOUNT}/block`)
  await manage('GET', `${ACCOUNT}/block`)
  await manage('DELETE', `${ACCOUNT}/block`)
  await manage('GET', `${ACCOUNT}/webhook-endpoints`)
  await manage('GET', `${ACCOUNT}/usage`)
  await manage('GET', '/v1/audit')
  await manage('POST', `${ACCOUNT}/sandbox-orders`, { scenario: 'pix_paid' })
  await manage('GET', `${ACCOUNT}/sandbox-orders`)

  const link = await manage('POST', `${ACCOUNT}/sessions`, {
    subject: 'ana',
    capabilities: ['orders'],
  })
  const { origin, hash: fragment } = new URL(link.url)
  const session = `${origin}/v1/session`
  const { response } = await call('POST', session, { origin }, { token: fragment.slice(1) })
  const [cookie = ''] = `${response.headers.get('set-cookie')}`.split(';')
  await call('GET', `${origin}${ACCOUNT}/orders`, { cookie })
  await call('DELETE', session, { cookie, origin })
}
