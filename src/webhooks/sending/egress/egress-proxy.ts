import { buildConnector, Pool, ProxyAgent } from 'undici'
import { EgressProxyError } from '../send-failure.ts'
import { limitReceived } from './limited-connector.ts'
import type { OriginDispatcher } from './origin-pools.ts'

export interface EgressProxyOptions {
  /** With the credentials, percent-encoded. */
  proxyUrl: string
  /** For the connection to the proxy, for its connection to the receiver, and for TLS. */
  connectTimeoutMs: number
  /** PEM of the trusted authorities; default: those of Node. */
  ca?: string
}

/** Those of the pool, and the connection through the proxy. */
type ReceiverOptions = Pool.Options & { connect: buildConnector.connector }

/** Dispatches through CONNECT of a proxy. `pool`: options of the pools, one per origin. */
export function createEgressProxy(
  pool: Pool.Options,
  { proxyUrl, connectTimeoutMs, ca }: EgressProxyOptions,
): OriginDispatcher {
  const tls = {
    timeout: connectTimeoutMs,
    rejectUnauthorized: true,
    ...(ca !== undefined && { ca }),
  }
  const connect = buildConnector({ ...tls, allowH2: false })
  return new ProxyAgent({
    ...pool,
    uri: proxyUrl,
    requestTls: tls,
    factory: (origin, options) => {
      const { connect: connectReceiver, ...others } = options as ReceiverOptions
      return new Pool(origin, { ...others, connect: limitReceived(connectReceiver) })
    },
    clientFactory: (origin) =>
      new Pool(origin, {
        headersTimeout: connectTimeoutMs, // Of the response to CONNECT.
        connect: (options, callback) =>
          connect(options, (...[error, socket]) => {
            // Otherwise it would read as an error of the receiver.
            if (error !== null) callback(new EgressProxyError(error.message), null)
            else callback(null, socket)
          }),
      }),
  })
}
