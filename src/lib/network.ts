import { isIP } from 'node:net'
import ipaddr, { type IPv4, type IPv6 } from 'ipaddr.js'

export interface Network {
  address: IPv4 | IPv6
  /** The number of leading bits that its addresses share. */
  prefix: number
}

/** Prefix length of a single address. */
const LONGEST_PREFIX = { ipv4: 32, ipv6: 128 }

const PREFIX = /^(?:0|[1-9]\d{0,2})$/
/** Maximum length of an entry in an error message. */
const MAX_ECHOED_CHARACTERS = 60

/**
 * Parses an address or a network. Accepts canonical forms only, since components read other forms
 * differently: dotted decimal IPv4 or IPv6, with a decimal prefix. Returns the reason as text when
 * the entry is invalid.
 */
export function parseNetwork(entry: string): Network | string {
  const slash = entry.indexOf('/')
  const text = slash < 0 ? entry : entry.slice(0, slash)
  if (!isCanonical(text)) return 'is not a complete address'
  const address = ipaddr.parse(text)
  const longest = LONGEST_PREFIX[address.kind()]
  const prefix = slash < 0 ? `${longest}` : entry.slice(slash + 1)
  if (!PREFIX.test(prefix) || Number(prefix) > longest) {
    return `has a prefix that is not a decimal number up to ${longest}`
  }
  return { address, prefix: Number(prefix) }
}

/**
 * Excludes octal, hexadecimal and short IPv4 forms, also at the end of IPv6, which components read
 * as different addresses. Excludes IPv6 zones, which are local to one machine.
 */
function isCanonical(text: string): boolean {
  const { IPv4, IPv6 } = ipaddr
  if (!text.includes(':')) return IPv4.isValidFourPartDecimal(text)
  const last = text.slice(text.lastIndexOf(':') + 1)
  const hasValidTail = !last.includes('.') || IPv4.isValidFourPartDecimal(last)
  return hasValidTail && !text.includes('%') && IPv6.isValid(text)
}

const WITH_PORT = /^(?:\[(?<v6>[^\]]+)\](?::\d+)?|(?<v4>[\d.]+):\d+)$/
/** `ipaddr.js` throws on zones that sockets have, such as `br-lan`. */
const ZONE = /%.*$/

/**
 * The address of a client or a proxy, from a connection or an entry of `X-Forwarded-For`. The entry
 * may include a port, as some proxies write it. IPv4-mapped IPv6 is returned as IPv4. `undefined`
 * for a text that is no complete address.
 */
export function parseReportedAddress(reported: string): IPv4 | IPv6 | undefined {
  const { v4, v6 } = WITH_PORT.exec(reported)?.groups ?? {}
  const bare = v4 ?? v6 ?? reported
  if (isIP(bare) === 0) return undefined
  return ipaddr.process(bare.replace(ZONE, ''))
}

/** Prefix length of the IPv4-mapped part of IPv6. */
const MAPPED_PREFIX = 96

/** An IPv4-mapped network as IPv4, because addresses are compared as IPv4; any other as it is. */
export function unmapNetwork({ address, prefix }: Network): Network {
  const isMapped = address.range() === 'ipv4Mapped' && prefix >= MAPPED_PREFIX
  if (!isMapped) return { address, prefix }
  return { address: (address as IPv6).toIPv4Address(), prefix: prefix - MAPPED_PREFIX }
}

/** Whether a network contains an address; networks of the other kind do not. */
export function contains({ address, prefix }: Network, candidate: IPv4 | IPv6): boolean {
  return address.kind() === candidate.kind() && candidate.match(address as never, prefix)
}

/** An entry of a list as an error message quotes it. */
export function quoteEntry(entry: string): string {
  return JSON.stringify(
    entry.length > MAX_ECHOED_CHARACTERS ? `${entry.slice(0, MAX_ECHOED_CHARACTERS)}…` : entry,
  )
}
