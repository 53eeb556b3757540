import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import type { Network } from '../../lib/network.ts'
import { classifyAddress } from './address-policy.ts'
import { createDnsResolver, type ResolveHost, resolveBySystem } from './resolve-host.ts'
import { ForbiddenTargetError } from './send-failure.ts'
import { isPublicTarget, targetProblem } from './target-url.ts'

export interface GuardedConnectorOptions {
  /** The networks of `WEBHOOK_ALLOW`. */
  allow: readonly Network[]
  /** Includes the resolution of the name and the TLS handshake. */
  connectTimeoutMs: number
  /** Default: DNS; the system's resolution where `allow` is not empty. */
  resolve?: ResolveHost | undefined
  /** PEM of the trusted authorities; default: those of Node. */
  ca?: string | undefined
}

/** One address of several gets this long before the next is tried, because a link may be slow. */
const ATTEMPT_TIMEOUT_MS = 1_000

/**
 * Connects only to addresses that the policy permits. A lookup alone is not enough, because a
 * literal address skips it. So literals are checked first; every other host is resolved once, and
 * the socket connects to the addresses that were checked. TLS is always verified, for the name in
 * the URL.
 */
export function createGuardedConnector({
  allow,
  connectTimeoutMs,
  resolve = allow.length > 0 ? resolveBySystem : createDnsResolver(),
  ca,
}: GuardedConnectorOptions): buildConnector.connector {
  const connectorWith = (permits: PermittedAddresses) =>
    buildConnector({
      timeout: connectTimeoutMs,
      lookup: guardedLookup(resolve, permits),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ATTEMPT_TIMEOUT_MS,
      rejectUnauthorized: true, // Also where NODE_TLS_REJECT_UNAUTHORIZED is 0.
      allowH2: false,
      ...(ca !== undefined && { ca }),
    })
  const development = (addresses: readonly string[]) =>
    addresses.filter((address) => classifyAddress(address, allow) === 'development')
  const connectToAny = connectorWith((addresses) => {
    const preferred = development(addresses)
    if (preferred.length > 0) return preferred
    // One forbidden address suffices to refuse the name: it is an error or an attack.
    const isPublic = addresses.every((address) => classifyAddress(address, allow) === 'public')
    return isPublic ? addresses : []
  })
  const connectToDevelopment = connectorWith(development)

  return (options, callback) => {
    const hostname = isIP(options.hostname) === 6 ? `[${options.hostname}]` : options.hostname
    const problem = targetProblem({ ...options, hostname }, allow)
    if (problem !== null) {
      // undici expects no callback during the call.
      queueMicrotask(() => callback(new ForbiddenTargetError(problem), null))
      return
    }
    const connect = isPublicTarget(options) ? connectToAny : connectToDevelopment
    connect(options, callback)
  }
}

/** Returns the addresses to connect to; none refuses the name. */
type PermittedAddresses = (addresses: readonly string[]) => readonly string[]

function guardedLookup(resolve: ResolveHost, permits: PermittedAddresses): LookupFunction {
  return (hostname, { all }, callback) => {
    resolve(hostname)
      .then((addresses) => {
        const permitted = permits(addresses)
        if (permitted.length > 0) return permitted
        throw new ForbiddenTargetError('the host name resolves to an address that is not public')
      })
      .then(
        (addresses) => {
          const answers = addresses.map((address) => ({ address, family: isIP(address) }))
          const [{ address, family } = { address: '', family: 0 }] = answers
          if (all) callback(null, answers)
          else callback(null, address, family)
        },
        (error) => callback(error, []),
      )
  }
}
