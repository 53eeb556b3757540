import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HOST, type ProxyUnderTest, startProxy } from '../support/http/proxy.ts'

const CONSOLE_HOST = 'console.example.com'

/** A server that responds to every request with its name. */
async function startNamed(name: string): Promise<{ server: Server; port: number }> {
  const server = createServer((_request, response) => response.end(name))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

describe('the edge in front of the API and the console', () => {
  const servers: Server[] = []
  let api: { port: number; operationsPort: number }
  let edge: ProxyUnderTest

  beforeAll(async () => {
    const [apiServer, consoleServer] = [await startNamed('api'), await startNamed('console')]
    servers.push(apiServer.server, consoleServer.server)
    api = { port: apiServer.port, operationsPort: apiServer.port }
    edge = await startProxy([api], {
      EDGE_CONSOLE: `127.0.0.1:${consoleServer.port}`,
      EDGE_CONSOLE_HOST: CONSOLE_HOST.replace('c', 'C'),
    })
  })
  afterAll(async () => {
    await edge.stop()
    for (const server of servers) server.close()
  })

  const bodyFor = async (host: string, path = '/painel') =>
    (await edge.call(path, { headers: { host } })).body

  it.each([CONSOLE_HOST, `${CONSOLE_HOST}:8443`, CONSOLE_HOST.toUpperCase()])(
    'the host %s is the console',
    async (host) => {
      expect(await bodyFor(host)).toBe('console')
    },
  )

  it.each([HOST, `x.${CONSOLE_HOST}`, `${CONSOLE_HOST}.evil.example`])(
    'the host %s is the API, also for paths of the console',
    async (host) => {
      expect(await bodyFor(host)).toBe('api')
      expect(await bodyFor(host, '/v1/session')).toBe('api')
    },
  )

  it('without a console, its host name is the API', async () => {
    const alone = await startProxy([api])
    const { body } = await alone.call('/painel', { headers: { host: CONSOLE_HOST } })
    await alone.stop()
    expect(body).toBe('api')
  })
})
