import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { recipe } from '../support/cli/program.ts'
import { createTestFolder } from '../support/stores/test-folder.ts'

/** urllib changes a request that passes a proxy: its third use would leave TLS. */
const ATTEMPTS = 3

it('pedidos.py repeats a request through a proxy with TLS', async () => {
  const { promise: repeated, resolve: onRepeated } = Promise.withResolvers<void>()
  const targets: unknown[] = []
  const proxy = createServer().on('connect', ({ url }, socket) => {
    socket.on('error', () => {}) // The program ends while it waits for its response.
    if (targets.push(url) === ATTEMPTS) onRepeated()
    socket.end('HTTP/1.1 503 Service Unavailable\r\n\r\n')
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const { port } = proxy.address() as AddressInfo
  const cwd = createTestFolder()
  const env = {
    PATH: process.env['PATH'],
    HOME: cwd,
    HTTPS_PROXY: `http://127.0.0.1:${port}`,
    ORDERS_API_URL: 'https://api.example',
    ORDERS_API_KEY: 'key_of_the_account',
  }
  const program = spawn('python3', [recipe('python/pedidos.py')], { cwd, env, stdio: 'ignore' })
  const exited = once(program, 'exit')
  await Promise.race([repeated, exited])
  program.kill()
  await exited
  proxy.close()
  expect(targets).toEqual(Array(ATTEMPTS).fill('api.example:443'))
})
