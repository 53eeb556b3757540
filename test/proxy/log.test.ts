import { afterAll, expect, it, onTestFinished } from 'vitest'
import { startProxy } from '../support/http/proxy.ts'
import { openSocket } from '../support/http/raw-http.ts'
import { openServedStore } from '../support/stores/served-store.ts'

const store = openServedStore()
afterAll(() => store.close())

it.each([
  ['of TLS', {}, /handshake/],
  ['of the PROXY protocol', { EDGE_PROXY_PROTOCOL_FROM: '127.0.0.1' }, /PROXY/],
])(
  'the edge logs a failed handshake %s as JSON without the address of the client',
  async (_, settings, cause) => {
    const edge = await startProxy([await store.serve()], settings)
    try {
      const socket = await openSocket(edge.httpsPort)
      socket.on('error', () => {}) // The edge may reset the connection.
      socket.end('EHLO "example.com"\r\n\r\n')
      await expect.poll(edge.log).toContain('"tls_error":')
      const log = await edge.log()
      expect(log).not.toContain('127.0.0.1')
      const line = log.split('\n').find((text) => text.includes('"tls_error":'))
      expect(JSON.parse(line ?? '')).toEqual({
        time: expect.any(Number),
        frontend: 'tls',
        status: 0,
        refused: '-',
        server: '-',
        termination: expect.any(String),
        duration_ms: expect.any(Number),
        error: expect.stringMatching(cause),
        tls_error: expect.stringMatching(/./),
      })
    } finally {
      await edge.stop()
    }
  },
)

it.each([
  ['a malformed request', 400, 'GET /a b c HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['unfinished headers', 408, 'GET / HTTP/1.1\r\nHost: x'],
])('the edge logs the status of %s', async (_, status, text) => {
  const edge = await startProxy([await store.serve()], { EDGE_HEADERS_TIMEOUT: '1s' })
  onTestFinished(edge.stop)
  const socket = await edge.open()
  socket.on('error', () => {}) // The edge may reset the connection.
  socket.write(text)
  await expect.poll(edge.log).toContain(`"frontend":"tls","status":${status},`)
  expect(await edge.log()).not.toContain('127.0.0.1')
  socket.destroy()
})
