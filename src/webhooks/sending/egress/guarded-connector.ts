import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import type { Network } from '../../../lib/network.ts'
import { ForbiddenTargetError } from '../send-failure.ts'
import { permittedAddresses } from './address-policy.ts'
import { createDnsResolver, type ResolveHost, resolveBySystem } from './resolve-host.ts'
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
 * Of IPv4 and of IPv6: a name may have thousands of addresses of other hosts, and each attempt
 * would connect to all of them.
 */
const MAX_ADDRESSES = 8

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
  const connectorFor = (target: { isPublicTarget: boolean }) =>
    buildConnector({
      timeout: connectTimeoutMs,
      lookup: guardedLookup(resolve, (addresses) => permittedAddresses(addresses, allow, target)),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ATTEMPT_TIMEOUT_MS,
      rejectUnauthorized: true, // Also where NODE_TLS_REJECT_UNAUTHORIZED is 0.
      allowH2: false,
      ...(ca !== undefined && { ca }),
    })
  const connectToPublic = connectorFor({ isPublicTarget: true })
  const connectToDevelopment = connectorFor({ isPublicTarget: false })

  return (options, callback) => {
    const problem = targetProblem(options, allow)
    if (problem !== null) {
      // undici expects no callback during the call.
      queueMicrotask(() => callback(new ForbiddenTargetError(problem), null))
      return
    }
    const connect = isPublicTarget(options) ? connectToPublic : connectToDevelopment
    connect(options, callback)
  }
}

function guardedLookup(
  resolve: ResolveHost,
  permit: (addresses: readonly string[]) => readonly string[],
): LookupFunction {
  return (hostname, { all }, callback) => {
    resolve(hostname)
      .then((addresses) => {
        const permitted = permit(addresses)
        if (permitted.length > 0) return permitted
        throw new ForbiddenTargetError('the host name resolves to an address that is not public')
      })
      .then(
        (addresses) => {
          const resolved = [4, 6].flatMap((family) =>
            addresses
              .filter((address) => isIP(address) === family)
              .slice(0, MAX_ADDRESSES)
              .map((address) => ({ address, family })),
          )
          const [{ address, family } = { address: '', family: 0 }] = resolved
          if (all) callback(null, resolved)
          else callback(null, address, family)
        },
        (error) => callback(error, []),
      )
  }
}
