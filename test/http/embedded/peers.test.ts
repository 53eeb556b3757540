import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { generateApiKey } from '../../../src/auth/api-key.ts'
import type { Peer } from '../../../src/http/server/eviction-policy.ts'
import { peerOf } from '../../../src/http/server/peers.ts'
import { createTestApp, ROOMY, type TestApp } from '../../support/http/test-app.ts'

let app: TestApp
let key: string
beforeAll(async () => {
  app = await createTestApp({ ...ROOMY, TRUST_PROXY: '127.0.0.1' })
  await app.app.listen({ port: 0, host: '127.0.0.1' })
  key = (await app.issue({ accountId: 'acc_7' })).key
})
afterAll(() => app.close())

const anonymous = (id: string): Peer => ({ isAuthenticated: false, id })

const requests: [what: string, url: string, headers: () => Record<string, string>, peer: Peer][] = [
  ['without a key', '/v1/orders', () => ({}), anonymous('127.0.0.1')],
  [
    'with a key that does not exist',
    '/v1/orders',
    () => ({ authorization: `Bearer ${generateApiKey()}` }),
    anonymous('127.0.0.1'),
  ],
  [
    'behind a trusted proxy',
    '/docs.md',
    () => ({ 'x-forwarded-for': '2001:db8::7' }),
    anonymous('20010db800000000::/64'),
  ],
  [
    'for the docs, whatever key it carries',
    '/docs.md',
    () => ({ authorization: `Bearer ${key}` }),
    anonymous('127.0.0.1'),
  ],
  [
    'with a key',
    '/v1/orders/ord_9',
    () => ({ authorization: `Bearer ${key}` }),
    { isAuthenticated: true, id: 'acc_7' },
  ],
]

it.each(requests)(
  'the response to a request %s is attributed to its client',
  async (_what, url, headers, peer) => {
    const resolved = Promise.withResolvers<Peer>()
    app.app.server.once('request', (_request: IncomingMessage, response: ServerResponse) => {
      response.once('finish', () => resolved.resolve(peerOf(response)))
    })
    const { port } = app.app.server.address() as AddressInfo
    await (await fetch(`http://127.0.0.1:${port}${url}`, { headers: headers() })).arrayBuffer()
    expect(await resolved.promise).toEqual(peer)
  },
)
