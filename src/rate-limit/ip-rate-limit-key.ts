import ipaddr from 'ipaddr.js'

const IPV6_PREFIX_BYTES = 8
const WITH_PORT = /^(?:\[(?<v6>[^\]]+)\](?::\d+)?|(?<v4>[\d.]+):\d+)$/

/**
 * The key for counting failed authentications: an IPv4 address (also if mapped into IPv6), or the
 * /64 network of an IPv6 address, which providers assign to one customer. `reported` may include a
 * port, as some proxies write it. An invalid `reported` counts for `peer`, the other end of the
 * connection.
 */
export function ipRateLimitKey(reported: string, peer = reported): string {
  const { v4, v6 } = WITH_PORT.exec(reported)?.groups ?? {}
  const bare = v4 ?? v6 ?? reported
  if (!ipaddr.isValid(bare)) return reported === peer ? 'unknown' : ipRateLimitKey(peer, peer)
  const address = ipaddr.process(bare)
  if (address.kind() === 'ipv4') return address.toString()
  return `${Buffer.from(address.toByteArray().slice(0, IPV6_PREFIX_BYTES)).toString('hex')}::/64`
}
