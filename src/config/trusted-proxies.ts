import ipaddr, { type IPv6 } from 'ipaddr.js'
import {
  contains,
  type Network,
  parseNetwork,
  parseReportedAddress,
  quoteEntry,
  unmapNetwork,
} from '../lib/network.ts'

/** Prefix length of the largest accepted network: proxies do not span a larger one. */
const SHORTEST_PREFIX = { ipv4: 8, ipv6: 16 }
/** All networks of one kind may together have the size of this many largest ones. */
const MAX_LARGEST_NETWORKS = 16

/** An address of the IPv4-mapped part of IPv6. */
const MAPPED = ipaddr.parse('::ffff:0:0')

interface ProxyNetwork extends Network {
  kind: 'ipv4' | 'ipv6'
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
  const parsed = networks.map(parseProxyNetwork)
  const faults = networks.flatMap((entry, at) => {
    const result = parsed[at]
    return typeof result === 'string' ? [`${quoteEntry(entry)} ${result}`] : []
  })
  const valid = parsed.filter((result) => typeof result === 'object')
  return { networks, errors: [...faults, ...tooManyAddresses(valid)] }
}

/**
 * Returns whether an entry of `X-Forwarded-For`, or the peer of a connection, is in one of the
 * accepted `networks`. Fastify compares whole entries, so a proxy reported with its port would end
 * the chain, and all clients behind it would have its address.
 */
export function trustsProxy(networks: readonly string[]) {
  const trusted = networks.map(parseProxyNetwork).filter((result) => typeof result === 'object')
  // The socket of a client that has gone has no address.
  return (reported: string | undefined): boolean => {
    if (reported === undefined || trusted.length === 0) return false
    const address = parseReportedAddress(reported)
    return address !== undefined && trusted.some((network) => contains(network, address))
  }
}

/** Returns the network, or an error text. */
function parseProxyNetwork(entry: string): ProxyNetwork | string {
  const parsed = parseNetwork(entry)
  if (typeof parsed === 'string') return parsed
  const { address, prefix } = parsed
  const network = withKind(parsed)
  if (prefix >= SHORTEST_PREFIX[address.kind()]) {
    if (network.prefix >= SHORTEST_PREFIX[network.kind]) return network
    return `contains more of IPv4 than a /${SHORTEST_PREFIX.ipv4}: write its networks as IPv4`
  }
  return `is larger than a /${SHORTEST_PREFIX[address.kind()]}`
}

/**
 * The network with the kind of its addresses. One that contains all of mapped IPv4 counts as that.
 */
function withKind(parsed: Network): ProxyNetwork {
  const { address, prefix } = unmapNetwork(parsed)
  if (address.kind() === 'ipv6' && MAPPED.match(address as IPv6, prefix)) {
    return { address, kind: 'ipv4', prefix: 0 }
  }
  return { address, kind: address.kind(), prefix }
}

/** Limits the total size of the networks of each kind. */
function tooManyAddresses(networks: readonly ProxyNetwork[]): string[] {
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
function withoutContained(networks: readonly ProxyNetwork[]): ProxyNetwork[] {
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
