import ipaddr, { type IPv4, type IPv6 } from 'ipaddr.js'

/** Prefix length of the largest accepted network: proxies do not span a larger one. */
const SHORTEST_PREFIX = { ipv4: 8, ipv6: 16 }
const LONGEST_PREFIX = { ipv4: 32, ipv6: 128 }
/** All networks of one kind may together have the size of this many largest ones. */
const MAX_LARGEST_NETWORKS = 16

/** The IPv4-mapped part of IPv6. */
const MAPPED = ipaddr.parse('::ffff:0:0')
const MAPPED_PREFIX = 96

const PREFIX = /^(?:0|[1-9]\d{0,2})$/
/** Maximum length of an entry in an error message. */
const MAX_ECHOED_CHARACTERS = 60

interface Network {
  address: IPv4 | IPv6
  kind: 'ipv4' | 'ipv6'
  prefix: number
}

export interface TrustedProxies {
  /** The entries, trimmed. */
  networks: string[]
  /** One error for each invalid entry. */
  errors: string[]
}

/**
 * Parses a comma-separated list of addresses and networks. Accepts canonical forms only, since
 * components read other forms differently: dotted decimal IPv4 or IPv6, with a decimal prefix.
 */
export function parseTrustedProxies(list: string): TrustedProxies {
  const networks = list.split(',').map((entry) => entry.trim())
  const parsed = networks.map(parseNetwork)
  const faults = networks.flatMap((entry, at) => {
    const result = parsed[at]
    return typeof result === 'string' ? [`${quoted(entry)} ${result}`] : []
  })
  const valid = parsed.filter((result) => typeof result === 'object')
  return { networks, errors: [...faults, ...tooManyAddresses(valid)] }
}

/** Returns the network, or an error text. */
function parseNetwork(entry: string): Network | string {
  const slash = entry.indexOf('/')
  const text = slash < 0 ? entry : entry.slice(0, slash)
  if (!isCanonical(text)) return 'is not a complete address'
  const address = ipaddr.parse(text)
  const longest = LONGEST_PREFIX[address.kind()]
  const prefix = slash < 0 ? `${longest}` : entry.slice(slash + 1)
  if (!PREFIX.test(prefix) || Number(prefix) > longest) {
    return `has a prefix that is not a decimal number up to ${longest}`
  }
  const network = unmapped(address, Number(prefix))
  if (Number(prefix) >= SHORTEST_PREFIX[address.kind()]) {
    if (network.prefix >= SHORTEST_PREFIX[network.kind]) return network
    return `contains more of IPv4 than a /${SHORTEST_PREFIX.ipv4}: write its networks as IPv4`
  }
  return `is larger than a /${SHORTEST_PREFIX[address.kind()]}`
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

/** Converts an IPv6 network that contains IPv4-mapped addresses to the IPv4 network. */
function unmapped(address: IPv4 | IPv6, prefix: number): Network {
  if (address.kind() === 'ipv4') return { address, kind: 'ipv4', prefix }
  const ipv6 = address as IPv6
  if (prefix < MAPPED_PREFIX && MAPPED.match(ipv6, prefix)) {
    return { address, kind: 'ipv4', prefix: 0 }
  }
  if (!ipv6.isIPv4MappedAddress()) return { address, kind: 'ipv6', prefix }
  return { address: ipv6.toIPv4Address(), kind: 'ipv4', prefix: prefix - MAPPED_PREFIX }
}

/** Limits the total size of the networks of each kind. */
function tooManyAddresses(networks: readonly Network[]): string[] {
  return (['ipv4', 'ipv6'] as const).flatMap((kind) => {
    const shortest = SHORTEST_PREFIX[kind]
    const largestNetworks = withoutContained(networks.filter((network) => network.kind === kind))
      .map(({ prefix }) => 2 ** (shortest - prefix))
      .reduce((sum, share) => sum + share, 0)
    if (largestNetworks <= MAX_LARGEST_NETWORKS) return []
    const name = kind === 'ipv4' ? 'IPv4' : 'IPv6'
    return [`the ${name} networks are together larger than ${MAX_LARGEST_NETWORKS} of /${shortest}`]
  })
}

/** Drops networks inside another one, and duplicates. */
function withoutContained(networks: readonly Network[]): Network[] {
  return networks.filter(
    (network, at) =>
      !networks.some((other, otherAt) => {
        if (other === network || other.prefix > network.prefix) return false
        const isEqual = other.prefix === network.prefix
        return (
          network.address.match(other.address as never, other.prefix) && (!isEqual || otherAt < at)
        )
      }),
  )
}

function quoted(entry: string): string {
  return JSON.stringify(
    entry.length > MAX_ECHOED_CHARACTERS ? `${entry.slice(0, MAX_ECHOED_CHARACTERS)}…` : entry,
  )
}
