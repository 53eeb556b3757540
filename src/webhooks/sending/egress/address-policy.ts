import { isIP } from 'node:net'
import ipaddr, { type IPv4, type IPv6 } from 'ipaddr.js'
import {
  contains,
  type Network,
  parseNetwork,
  quoteEntry,
  unmapNetwork,
} from '../../../lib/network.ts'

/**
 * `public`: reachable over https. `development`: inside a network of `WEBHOOK_ALLOW`, reachable
 * over http and on any port too. `forbidden`: every other address.
 */
export type AddressClass = 'public' | 'development' | 'forbidden'

/** The allocated part of IPv6; ipaddr.js calls the rest `unicast` too. */
const GLOBAL_IPV6 = network('2000::/3')

/** Forbidden networks that ipaddr.js calls `unicast`. */
const FORBIDDEN = [
  network('168.63.129.16'), // Platform service of Azure virtual machines.
]

/** Every address: for a receiver that the operator names, which may be internal. */
export const everyNetwork: readonly Network[] = [network('0.0.0.0/0'), network('::/0')]

/**
 * Whether a webhook may be sent to an address. `allow`: the networks of `WEBHOOK_ALLOW`. Only full
 * dotted decimal IPv4 and IPv6 without a zone can be other than forbidden. IPv4-mapped IPv6 counts
 * as IPv4.
 */
export function classifyAddress(text: string, allow: readonly Network[]): AddressClass {
  if (isIP(text) === 0 || text.includes('%')) return 'forbidden'
  const address = ipaddr.process(text)
  if (allow.some((network) => contains(network, address))) return 'development'
  return isPublic(address) ? 'public' : 'forbidden'
}

function isPublic(address: IPv4 | IPv6): boolean {
  if (address.range() !== 'unicast') return false
  if (address.kind() === 'ipv6' && !contains(GLOBAL_IPV6, address)) return false
  return !FORBIDDEN.some((network) => contains(network, address))
}

/**
 * The addresses of a name that may be connected to; none refuses the name. `isPublicTarget`:
 * whether the protocol and the port are those of public receivers.
 */
export function permittedAddresses(
  addresses: readonly string[],
  allow: readonly Network[],
  { isPublicTarget }: { isPublicTarget: boolean },
): readonly string[] {
  const classified = addresses.map((address) => [address, classifyAddress(address, allow)] as const)
  const development = classified.filter(([, kind]) => kind === 'development')
  if (development.length > 0) return development.map(([address]) => address)
  // One forbidden address refuses the name: it is an error or an attack.
  const isPublic = isPublicTarget && classified.every(([, kind]) => kind === 'public')
  return isPublic ? addresses : []
}

export interface ParsedNetworks {
  networks: Network[]
  /** One error for each invalid entry. */
  errors: string[]
}

/** Parses the comma-separated addresses and networks of `WEBHOOK_ALLOW`, in canonical form. */
export function parseNetworks(list: string): ParsedNetworks {
  const entries = list.split(',').map((entry) => entry.trim())
  const parsed = entries.map((entry) => ({ entry, result: parseNetwork(entry) }))
  return {
    networks: parsed.flatMap(({ result }) =>
      typeof result === 'string' ? [] : [unmapNetwork(result)],
    ),
    errors: parsed.flatMap(({ entry, result }) =>
      typeof result === 'string' ? [`${quoteEntry(entry)} ${result}`] : [],
    ),
  }
}

/** @throws Error for a constant that is not canonical */
function network(text: string): Network {
  const parsed = parseNetwork(text)
  if (typeof parsed === 'string') throw new Error(`${quoteEntry(text)} ${parsed}`)
  return parsed
}
