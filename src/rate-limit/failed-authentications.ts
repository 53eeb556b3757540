import { isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { MINUTE_MS } from '../lib/durations.ts'
import { contains, parseReportedAddress } from '../lib/network.ts'

/** Failed authentications of one address, in a fixed window that starts at the first. */
export interface FailureWindow {
  failures: number
  /** End of the window, on the clock of `nowMs`. */
  endsAtMs: number
}

export const MAX_FAILURES = 30
export const WINDOW_MS = MINUTE_MS

/** Whole seconds, at least 1, until the address is unblocked; 0 when it is not blocked. */
export function blockedSeconds(window: FailureWindow | undefined, nowMs: number): number {
  if (window === undefined || nowMs >= window.endsAtMs || window.failures < MAX_FAILURES) return 0
  return Math.max(1, Math.ceil((window.endsAtMs - nowMs) / 1000))
}

/** The window after one more failure. A failure after its end starts a new one. */
export function withFailure(window: FailureWindow | undefined, nowMs: number): FailureWindow {
  if (window === undefined || nowMs >= window.endsAtMs) {
    return { failures: 1, endsAtMs: nowMs + WINDOW_MS }
  }
  return { ...window, failures: window.failures + 1 }
}

const IPV6_PREFIX_BYTES = 8
/** The well-known prefix of NAT64 (RFC 6052), before an IPv4 address: all of IPv4 is in one /64. */
const NAT64 = { address: ipaddr.parse('64:ff9b::'), prefix: 96 }
const NAT64_PREFIX_BYTES = 12

/**
 * The key for counting failed authentications: an IPv4 address, or the /64 network of an IPv6
 * address, which providers assign to one customer. IPv4 mapped into IPv6, or translated by NAT64,
 * counts as IPv4. `reported` may include a port, as some proxies write it. If it is invalid, `peer`
 * counts, the other end of the connection.
 */
export function ipRateLimitKey(reported: string, peer = reported): string {
  if (isIPv4(reported)) return reported // By far the most frequent, and already normalised.
  const address = parseReportedAddress(reported)
  if (!address) return reported === peer ? 'unknown' : ipRateLimitKey(peer, peer)
  if (address.kind() === 'ipv4') return address.toString()
  const bytes = address.toByteArray()
  if (contains(NAT64, address)) return bytes.slice(NAT64_PREFIX_BYTES).join('.')
  return `${Buffer.from(bytes.slice(0, IPV6_PREFIX_BYTES)).toString('hex')}::/64`
}
