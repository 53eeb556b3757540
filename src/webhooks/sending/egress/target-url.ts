import { isIP } from 'node:net'
import type { Network } from '../../../lib/network.ts'
import { type AddressClass, classifyAddress } from './address-policy.ts'

/** The normalized URL, or a sentence with the culprit and the mend. */
export type CheckedTargetUrl = { url: string } | { problem: string }

const MAX_CHARACTERS = 2_048
/** URL parsers drop some of these, so the URL would differ from the text. */
const BLANKS_AND_CONTROLS = /[\p{White_Space}\p{Cc}]/u

/** Ports of public receivers; a URL without a port has the empty text. */
const PUBLIC_PORTS: readonly string[] = ['', '443', '8443']

/**
 * Checks the URL of an endpoint before it is stored. `allow`: the networks of `WEBHOOK_ALLOW`.
 * Names are not resolved: with `allow`, a name may use http or any port, and each connection checks
 * that its addresses are in `allow`. No problem repeats credentials, path or query.
 */
export function checkTargetUrl(text: string, allow: readonly Network[]): CheckedTargetUrl {
  if (BLANKS_AND_CONTROLS.test(text)) {
    return {
      problem: 'the URL contains a blank or a control character; percent-encode or remove it',
    }
  }
  const url = URL.parse(text)
  if (url === null) {
    return { problem: 'the URL is not valid; expected one such as https://example.com/webhooks' }
  }
  const length = Math.max(text.length, url.href.length)
  if (length > MAX_CHARACTERS) {
    return { problem: `the URL has ${length} characters; use at most ${MAX_CHARACTERS}` }
  }
  const problem = partProblem(url, text) ?? targetProblem(url, allow)
  return problem === null ? { url: url.href } : { problem }
}

function partProblem({ protocol, username, password }: URL, text: string): string | null {
  if (protocol !== 'https:' && protocol !== 'http:') {
    return `the URL uses ${protocol} and webhooks need https:; start the URL with https://`
  }
  if (username !== '' || password !== '') {
    return 'the URL contains credentials; remove what precedes the @, and verify the signature of each webhook instead'
  }
  // An empty fragment is absent from the parsed URL.
  if (text.includes('#')) {
    return 'the URL contains a fragment, which no request carries; remove the # and what follows'
  }
  return null
}

/**
 * Why a host, protocol or port cannot be a target; `null` when it can. A name is checked again when
 * it is resolved.
 */
export function targetProblem(
  { protocol, hostname, port }: Pick<URL, 'protocol' | 'hostname' | 'port'>,
  allow: readonly Network[],
): string | null {
  const hostClass = classifyHost(hostname, allow)
  if (hostClass === 'forbidden') {
    return `the URL names ${hostname}, which is not a public address; use a public host, or for development add its network to WEBHOOK_ALLOW`
  }
  if (hostname.endsWith('.')) {
    return `the URL names ${hostname} with a dot at the end, which no certificate has; remove the dot`
  }
  if (hostClass === 'development') return null
  if (protocol !== 'https:') {
    return `the URL uses ${protocol} and webhooks need https:; start the URL with https://`
  }
  if (!PUBLIC_PORTS.includes(port)) {
    return `the URL uses port ${port}; use port 443 or 8443`
  }
  return null
}

/** The same for a target behind an egress proxy, which resolves the name without this policy. */
export function proxiedTargetProblem(url: URL, allow: readonly Network[]): string | null {
  return targetProblem(url, isIP(withoutBrackets(url.hostname)) === 0 ? [] : allow)
}

/** Whether https and the port suffice for any public address. */
export function isPublicTarget({ protocol, port }: Pick<URL, 'protocol' | 'port'>): boolean {
  return protocol === 'https:' && PUBLIC_PORTS.includes(port)
}

/** A name may be a development address when there are any. */
function classifyHost(hostname: string, allow: readonly Network[]): AddressClass {
  const bare = withoutBrackets(hostname)
  if (isIP(bare) !== 0) return classifyAddress(bare, allow)
  if (isLocalhost(bare)) return classifyLocalhost(allow)
  return allow.length > 0 ? 'development' : 'public'
}

function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '')
}

function isLocalhost(name: string): boolean {
  return /(?:^|\.)localhost\.*$/i.test(name)
}

function classifyLocalhost(allow: readonly Network[]): AddressClass {
  const classes = ['127.0.0.1', '::1'].map((address) => classifyAddress(address, allow))
  return classes.includes('development') ? 'development' : 'forbidden'
}
