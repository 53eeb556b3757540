import { isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { contains, parseReportedAddress } from '../lib/network.ts'

const IPV6_PREFIX_BYTES = 8
/** The well-known prefix of NAT64 (RFC 6052), before an IPv4 address: all of IPv4 is in one /64. */
const NAT64 = { address: ipaddr.parse('64:ff9b::'), prefix: 96 }
const NAT64_PREFIX_BYTES = 12

/**
 * The key of the client address of a request. Failed authentications count by it, and so do the
 * connections of requests without a valid key, when the server chooses which ones to close. An IPv4
 * address, or the /64 network of an IPv6 address, which providers assign to one customer. IPv4
 * mapped into IPv6, or translated by NAT64, counts as IPv4. `reported` may include a port, as some
 * proxies write it. If it is invalid, `peer` counts, the other end of the connection.
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
