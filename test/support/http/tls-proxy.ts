import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { createServer } from 'node:tls'
import type { Certificate } from '../../harness/services/certificate.ts'

/** Terminates TLS for a port of the loopback address. */
export async function startTlsProxy(
  targetPort: number,
  certificate: Certificate,
): Promise<{ port: number; close(): void }> {
  const server = createServer(certificate, (socket) => {
    const plain = connect(targetPort, '127.0.0.1')
    socket.pipe(plain).pipe(socket)
    socket.on('error', () => plain.destroy())
    plain.on('error', () => socket.destroy())
  })
  server.on('tlsClientError', () => {}) // The client reports it.
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { port: (server.address() as AddressInfo).port, close: () => server.close() }
}
