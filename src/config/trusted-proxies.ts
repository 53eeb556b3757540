import ipaddr, { type IPv4, type IPv6 } from 'ipaddr.js'

/** The largest network of each kind, by its prefix: a larger one is no network of proxies. */
const SHORTEST_PREFIX = { ipv4: 8, ipv6: 16 }
const LONGEST_PREFIX = { ipv4: 32, ipv6: 128 }
/** The networks of one kind may together have so many times the addresses of the largest one. */
const MAX_LARGEST_NETWORKS = 16

/** Where addresses of IPv4 are in IPv6. */
const MAPPED = ipaddr.parse('::ffff:0:0')
const MAPPED_PREFIX = 96

const PREFIX = /^(?:0|[1-9]\d{0,2})$/
/** Enough to find an entry by. */
const MAX_ECHOED_CHARACTERS = 60

interface Network {
  address: IPv4 | IPv6
  kind: 'ipv4' | 'ipv6'
  prefix: number
}

export interface TrustedProxies {
  /** The entries as they were written, without spaces around them. */
  networks: string[]
  /** What is wrong, each entry by its name. */
  errors: string[]
}

/**
 * The addresses and networks of a list with commas between. An entry has one spelling that every
 * component reads alike: four decimal numbers or an IPv6 address, and a decimal prefix.
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

/** The network of an entry, or what is wrong with it. */
function parseNetwork(entry: string): Network | string {
  const slash = entry.indexOf('/')
  const text = slash < 0 ? entry : entry.slice(0, slash)
  if (!isCanonical(text)) return 'is no address in full'
  const address = ipaddr.parse(text)
  const longest = LONGEST_PREFIX[address.kind()]
  const prefix = slash < 0 ? `${longest}` : entry.slice(slash + 1)
  if (!PREFIX.test(prefix) || Number(prefix) > longest) {
    return `has a prefix that is no decimal number up to ${longest}`
  }
  const network = unmapped(address, Number(prefix))
  if (Number(prefix) >= SHORTEST_PREFIX[address.kind()]) {
    if (network.prefix >= SHORTEST_PREFIX[network.kind]) return network
    return `has more of IPv4 than a /${SHORTEST_PREFIX.ipv4}: write its networks as IPv4`
  }
  return `is larger than a /${SHORTEST_PREFIX[address.kind()]}`
}

/**
 * Without what other components read as another address: an octal, hexadecimal or short IPv4 address,
 * alone or at the end of one of IPv6, and without a zone, which only one machine knows.
 */
function isCanonical(text: string): boolean {
  const { IPv4, IPv6 } = ipaddr
  if (!text.includes(':')) return IPv4.isValidFourPartDecimal(text)
  const last = text.slice(text.lastIndexOf(':') + 1)
  const hasValidTail = !last.includes('.') || IPv4.isValidFourPartDecimal(last)
  return hasValidTail && !text.includes('%') && IPv6.isValid(text)
}

/** A network of IPv6 that has addresses of IPv4 counts as the network of those. */
function unmapped(address: IPv4 | IPv6, prefix: number): Network {
  if (address.kind() === 'ipv4') return { address, kind: 'ipv4', prefix }
  const ipv6 = address as IPv6
  if (prefix < MAPPED_PREFIX && MAPPED.match(ipv6, prefix)) {
    return { address, kind: 'ipv4', prefix: 0 }
  }
  if (!ipv6.isIPv4MappedAddress()) return { address, kind: 'ipv6', prefix }
  return { address: ipv6.toIPv4Address(), kind: 'ipv4', prefix: prefix - MAPPED_PREFIX }
}

/** What is wrong with all of them together. */
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

/** Those that are in no other one; of equal ones, the first. */
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
