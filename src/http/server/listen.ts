import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { errorText } from '../../lib/errors/error-text.ts'

/**
 * `what` listens, in the log: that of the API begins with "Server listening at".
 * @throws Error naming the setting to change when the port cannot be bound
 */
export async function listen(
  app: FastifyInstance,
  host: string,
  port: number,
  setting: string,
  what = 'Server listening',
): Promise<void> {
  try {
    await app.listen({ host, port, listenTextResolver: (address) => `${what} at ${address}` })
  } catch (cause) {
    const reason = errorText(cause)
    throw new Error(`cannot listen on ${host}:${port}: ${reason}. Set HOST or ${setting}`, {
      cause,
    })
  }
}

/** The URL of a listening server, as reachable from this machine. */
export function serverUrl(app: FastifyInstance): string {
  const { address, family, port } = app.server.address() as AddressInfo
  const host = ['0.0.0.0', '::'].includes(address) ? 'localhost' : address
  return `http://${family === 'IPv6' && host !== 'localhost' ? `[${host}]` : host}:${port}`
}
