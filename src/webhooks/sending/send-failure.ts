import { errors } from 'undici'
import { ExpectedError } from '../../lib/errors/expected-error.ts'

/** A target that the address policy forbids. The message is for the owner of the endpoint. */
export class ForbiddenTargetError extends ExpectedError {}

/** The egress proxy could not be connected to. */
export class EgressProxyError extends ExpectedError {}

/** A connection received more than any response has. */
export class OversizedResponseError extends ExpectedError {
  constructor() {
    super('the response is too large')
  }
}

export interface FailureLimits {
  connectTimeoutMs: number
  timeoutMs: number
  maxHeaderBytes: number
}

const UNRESOLVED = 'the host name does not resolve'
const NO_NAME_SERVER = 'the name servers of the host do not respond'
const UNREACHABLE = 'the host is unreachable'
const CONNECTION_ENDED = 'the connection ended before the response'
export const INVALID_HTTP = 'the response is not valid HTTP'
const NO_DESCRIPTOR = 'the dispatcher has no free connection'
const PROXY_FAILED = 'the egress proxy is not available'
const INVALID_CHAIN = certificateFailure('its chain does not verify')
const UNTRUSTED_ISSUER = certificateFailure('its issuer is unknown, or its chain is incomplete')

/** Codes of Node, undici, OpenSSL and c-ares. */
const FAILURES = new Map<string, string | ((limits: FailureLimits) => string)>([
  ['ENOTFOUND', UNRESOLVED],
  ['ENODATA', UNRESOLVED],
  ['EBADNAME', UNRESOLVED],
  ['ETIMEOUT', NO_NAME_SERVER],
  ['ESERVFAIL', NO_NAME_SERVER],
  ['EREFUSED', NO_NAME_SERVER],
  ['EAI_AGAIN', NO_NAME_SERVER],
  ['UND_ERR_CONNECT_TIMEOUT', noConnection],
  // The egress proxy has not connected to the receiver.
  ['UND_ERR_HEADERS_TIMEOUT', noConnection],
  ['ETIMEDOUT', noConnection],
  ['ECONNREFUSED', 'the connection was refused'],
  ['ENETUNREACH', UNREACHABLE],
  ['EHOSTUNREACH', UNREACHABLE],
  ['EMFILE', NO_DESCRIPTOR],
  ['ENFILE', NO_DESCRIPTOR],
  ['EADDRNOTAVAIL', NO_DESCRIPTOR],
  ['ECONNRESET', CONNECTION_ENDED],
  ['EPIPE', CONNECTION_ENDED],
  ['UND_ERR_SOCKET', CONNECTION_ENDED],
  ['UND_ERR_HEADERS_OVERFLOW', headersTooLarge],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', INVALID_HTTP],
  ['CERT_HAS_EXPIRED', certificateFailure('expired')],
  ['CERT_NOT_YET_VALID', certificateFailure('not valid yet')],
  ['CERT_REVOKED', certificateFailure('revoked')],
  ['ERR_TLS_CERT_ALTNAME_INVALID', certificateFailure('issued for another host')],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', certificateFailure('self-signed')],
  ['SELF_SIGNED_CERT_IN_CHAIN', UNTRUSTED_ISSUER],
  ['UNABLE_TO_GET_ISSUER_CERT', UNTRUSTED_ISSUER],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', UNTRUSTED_ISSUER],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', UNTRUSTED_ISSUER],
  ['EPROTO', 'the TLS handshake failed'],
  ['UND_ERR_PRX_CONN', PROXY_FAILED],
  ['UND_ERR_PRX_TLS', PROXY_FAILED],
  // undici's error for a CONNECT whose status is not 200.
  ['UND_ERR_ABORTED', 'the egress proxy refused the connection'],
  ['UND_ERR_CLOSED', 'the sender is closed'],
  ['UND_ERR_DESTROYED', 'the sender is closed'],
])

/** Codes of one kind, by the start of the name. */
const FAILURE_PREFIXES: [prefix: string, failure: string][] = [
  ['ERR_SSL_', 'the TLS handshake failed'],
  ['CERT_', INVALID_CHAIN],
  ['INVALID_', INVALID_CHAIN],
]

/**
 * Why no response arrived, as one sentence of a closed set, without an address that DNS returned.
 * Errors of an unknown kind are identified by their code only.
 */
export function describeFailure(error: unknown, limits: FailureLimits): string {
  if (error instanceof ForbiddenTargetError || error instanceof OversizedResponseError) {
    return error.message
  }
  if (error instanceof EgressProxyError) return PROXY_FAILED
  // Not every parser error has a code.
  if (error instanceof errors.HTTPParserError) return INVALID_HTTP
  const code = codeOf(error)
  const known = FAILURES.get(code)
  if (known !== undefined) return typeof known === 'string' ? known : known(limits)
  const [, failure] = FAILURE_PREFIXES.find(([prefix]) => code.startsWith(prefix)) ?? []
  return failure ?? `the request failed${code === '' ? '' : `: ${code}`}`
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? code : ''
}

/** Why a response other than 2xx is a failure; `null` for a 2xx. */
export function describeStatus(status: number): string | null {
  if (status >= 200 && status < 300) return null
  if (status >= 300 && status < 400) {
    return `the response is a redirect (${status}), which is not followed; set the URL to its target`
  }
  return `the response has status ${status}`
}

export function describeTimeout({ timeoutMs }: FailureLimits): string {
  return `no response within ${timeoutMs / 1_000} s`
}

function noConnection({ connectTimeoutMs }: FailureLimits): string {
  return `no connection within ${connectTimeoutMs / 1_000} s`
}

function headersTooLarge({ maxHeaderBytes }: FailureLimits): string {
  return `the response headers are larger than ${maxHeaderBytes / 1_024} KB`
}

function certificateFailure(reason: string): string {
  return `the TLS certificate is not valid: ${reason}`
}
