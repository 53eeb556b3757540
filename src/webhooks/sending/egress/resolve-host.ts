import { lookup, Resolver } from 'node:dns/promises'

/** Returns all addresses of a name. @throws an error with a code of DNS */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>

/** Two tries are over before the time to connect is. */
const QUERY_TIMEOUT_MS = 1_000
const TRIES = 2

/**
 * Resolves by DNS alone. `dns.lookup` occupies one of the process's four threads for each name. A
 * few name servers that never respond would then delay every file, signature and other name.
 * `servers`: addresses with ports; default: those of the system.
 */
export function createDnsResolver(servers?: readonly string[]): ResolveHost {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: TRIES })
  if (servers !== undefined) resolver.setServers(servers)
  return async (hostname) => {
    const answers = await Promise.allSettled([
      resolver.resolve4(hostname),
      resolver.resolve6(hostname),
    ])
    const addresses = answers.flatMap((answer) =>
      answer.status === 'fulfilled' ? answer.value : [],
    )
    if (addresses.length > 0) return addresses
    throw mostSpecific(answers)
  }
}

/** A name server that did not respond, rather than a record that does not exist. */
function mostSpecific(answers: PromiseSettledResult<unknown>[]): unknown {
  const errors = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))
  return errors.find(({ code }) => code !== 'ENODATA' && code !== 'ENOTFOUND') ?? errors[0]
}

/** Resolves as the system does, with its hosts file: for development. */
export const resolveBySystem: ResolveHost = async (hostname) => {
  const answers = await lookup(hostname, { all: true })
  return answers.map(({ address }) => address)
}
