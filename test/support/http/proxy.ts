import { once } from 'node:events'
import type { OutgoingHttpHeaders } from 'node:http'
import { Agent, request } from 'node:https'
import { connect as connectTcp } from 'node:net'
import { text } from 'node:stream/consumers'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { startHaproxy, type Upstream } from '../../harness/services/haproxy.ts'

export interface ProxyCall {
  method?: string
  headers?: OutgoingHttpHeaders
}

/** The host name of the requests; the proxy would reject `localhost`. */
export const HOST = 'api.example.com'

const CONNECTIONS = 16

/** Starts the proxy for processes that run already or start later. */
export async function startProxy(
  processes: readonly Upstream[],
  settings: Record<string, string> = {},
) {
  const { httpsPort, httpPort, ca, log, stop } = await startHaproxy({ processes, settings })
  // The name in the certificate differs from the one in `Host`.
  const trusted = { host: '127.0.0.1', port: httpsPort, ca, servername: 'localhost' }
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })

  return {
    httpsPort,
    httpPort,
    ca,
    /** Everything that HAProxy has logged. */
    log,

    /** Sends one request without normalising its path. */
    async call(path: string, { method = 'GET', headers = {} }: ProxyCall = {}) {
      const all = { host: HOST, ...headers }
      const sent = request({ ...trusted, path, method, agent, headers: all }).end()
      const [response] = await once(sent, 'response')
      return { status: response.statusCode, headers: response.headers, body: await text(response) }
    },

    /** Opens a connection, for bytes that no HTTP client would send. */
    async open(options: ConnectionOptions = {}): Promise<TLSSocket> {
      const socket = connect({ ...trusted, ...options })
      await once(socket, 'secureConnect')
      return socket
    },

    /**
     * Opens a connection as a load balancer does, with the client's address in the PROXY protocol.
     */
    async openFrom(address: string): Promise<TLSSocket> {
      const tcp = connectTcp(httpsPort, '127.0.0.1')
      const family = address.includes(':') ? 'TCP6' : 'TCP4'
      const own = family === 'TCP6' ? '2001:db8::ffff' : '192.0.2.255'
      tcp.write(`PROXY ${family} ${address} ${own} 1024 443\r\n`)
      return await this.open({ socket: tcp })
    },

    async stop() {
      agent.destroy()
      await stop()
    },
  }
}

export type ProxyUnderTest = Awaited<ReturnType<typeof startProxy>>
