import { setTimeout as pause } from 'node:timers/promises'
import { errors, type Pool } from 'undici'
import type { Clock } from '../../lib/clock.ts'
import { MINUTE_MS } from '../../lib/durations.ts'
import type { Network } from '../../lib/network.ts'
import { createEgressProxy } from './egress/egress-proxy.ts'
import { createGuardedConnector } from './egress/guarded-connector.ts'
import { limitReceived } from './egress/limited-connector.ts'
import { createOriginPools, type OriginDispatcher } from './egress/origin-pools.ts'
import type { ResolveHost } from './egress/resolve-host.ts'
import { proxiedTargetProblem } from './egress/target-url.ts'
import { MAX_REQUESTS } from './request-limit.ts'
import { SendAttempt, type SendContext } from './send-attempt.ts'
import { ForbiddenTargetError } from './send-failure.ts'
import type { OutgoingRequest, Sender } from './sender.ts'

export interface HttpSenderOptions {
  /** The networks of `WEBHOOK_ALLOW`. */
  allow: readonly Network[]
  /** For the whole attempt: connection, headers and body. */
  timeoutMs: number
  connectTimeoutMs?: number
  /** How long a connection is used, so that a change of DNS takes effect. */
  connectionTtlMs?: number
  /** An egress proxy, which then resolves the names. It must refuse internal addresses itself. */
  proxyUrl?: string | undefined
  /** Default: see {@link createGuardedConnector}. */
  resolve?: ResolveHost
  /** PEM of the trusted authorities; default: those of Node. */
  ca?: string
  /** Epoch milliseconds. */
  clock: Clock
  /** Milliseconds. */
  monotonic: Clock
}

const CONNECT_TIMEOUT_MS = 5_000
const CONNECTION_TTL_MS = MINUTE_MS
const IDLE_CONNECTION_MS = 4_000
/**
 * Bounds the idle connections after a burst to many endpoints. More than are busy at once: a full
 * set would close the idle connections of those that respond.
 */
const MAX_POOLS = 2 * MAX_REQUESTS
const MAX_HEADER_BYTES = 16 * 1_024

/**
 * Sends webhooks by HTTP/1.1. Connections are reused within this sender alone, so no connection
 * outlives its address policy. Redirects are not followed, and bodies are not decompressed.
 */
export function createHttpSender(options: HttpSenderOptions): Sender {
  const { allow, timeoutMs, proxyUrl, clock, monotonic } = options
  const connectTimeoutMs = Math.min(options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS, timeoutMs)
  const limits = { connectTimeoutMs, timeoutMs, maxHeaderBytes: MAX_HEADER_BYTES }
  const context: SendContext = { limits, clock, monotonic }
  const pool: Pool.Options = {
    connections: MAX_REQUESTS, // Many endpoints may share the origin of one platform.
    keepAliveTimeout: IDLE_CONNECTION_MS,
    keepAliveMaxTimeout: IDLE_CONNECTION_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: 0, // The attempt has its own deadline.
    bodyTimeout: 0,
    allowH2: false,
  }
  const connecting = { ...options, connectTimeoutMs }
  const dispatcher: OriginDispatcher =
    proxyUrl === undefined
      ? createOriginPools({
          maxPools: MAX_POOLS,
          ttlMs: options.connectionTtlMs ?? CONNECTION_TTL_MS,
          monotonic,
          pool: { ...pool, connect: limitReceived(createGuardedConnector(connecting)) },
        })
      : createEgressProxy(pool, { ...connecting, proxyUrl })
  let isClosed = false

  function start({ url, headers, body }: OutgoingRequest, attempt: SendAttempt): void {
    const target = URL.parse(url)
    const refusal = refusalOf(target)
    if (target === null || refusal !== null) {
      attempt.fail(refusal ?? new ForbiddenTargetError('the URL is not valid'))
      return
    }
    const request = {
      origin: target.origin,
      path: target.pathname + target.search,
      method: 'POST' as const,
      headers: { ...headers, 'accept-encoding': 'identity' },
      body,
    }
    dispatcher.dispatch(request, attempt)
  }

  function refusalOf(target: URL | null): Error | null {
    if (isClosed) return new errors.ClientClosedError()
    // Without a proxy, the connector checks the target.
    if (target === null || proxyUrl === undefined) return null
    const problem = proxiedTargetProblem(target, allow)
    return problem === null ? null : new ForbiddenTargetError(problem)
  }

  return {
    send: (request) => new Promise((settle) => start(request, new SendAttempt(context, settle))),
    async close(graceMs) {
      isClosed = true
      const closed = new AbortController()
      const grace = pause(graceMs, undefined, { signal: closed.signal }).catch(() => {})
      await Promise.race([dispatcher.close(), grace])
      closed.abort()
      await dispatcher.destroy()
    },
  }
}
