import ipaddr from 'ipaddr.js'

const IPV6_PREFIX_BYTES = 8

/**
 * What failed authentications are counted by: an IPv4 address (also when it came mapped into IPv6), or
 * the /64 of an IPv6 address, which is what one customer gets.
 */
export function countedAddress(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip.slice(0, 64)
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv4') return address.toString()
  return `${Buffer.from(address.toByteArray().slice(0, IPV6_PREFIX_BYTES)).toString('hex')}::/64`
}
