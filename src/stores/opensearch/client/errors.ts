import { errors } from '@opensearch-project/opensearch'
import { Unavailable } from '../../../lib/errors/unavailable.ts'

/** OpenSearch rejected a request. The cause is a defect of this service or its configuration. */
export class RequestRejectedError extends Error {
  readonly status: number
  /** The `type` of OpenSearch's error. */
  readonly type: string

  constructor(status: number, type: string, reason: string, message?: string) {
    super(message ?? `OpenSearch rejected the request with ${status} ${type}: ${reason}`)
    this.name = 'RequestRejectedError'
    this.status = status
    this.type = type
  }
}

/** The index of a request does not exist: before its creation, or after its loss. */
export class IndexMissing extends Unavailable {}

export const BAD_REQUEST = 400
const UNAUTHORIZED = 401
export const FORBIDDEN = 403
export const NOT_FOUND = 404
export const CONFLICT = 409
export const TOO_MANY_REQUESTS = 429
/** The disk is full, or an operator blocked writes to the index. */
export const INDEX_BLOCKED = 'cluster_block_exception'
/** An operator closed the index, or restores it. */
export const INDEX_CLOSED = 'index_closed_exception'
/** The user lacks a permission. */
const SECURITY = 'security_exception'
export const INDEX_NOT_FOUND = 'index_not_found_exception'
const INDEX_EXISTS = 'resource_already_exists_exception'

export const NOT_JSON =
  'OPENSEARCH_URL did not respond with JSON: check that it is the address of OpenSearch'
const WRONG_CREDENTIALS =
  'OpenSearch rejected the user or the password in OPENSEARCH_URL (401): check both, percent-encoded'
const CHECK_AUTHORITY =
  '; set OPENSEARCH_CA_FILE to the authority that signed the certificates of the nodes'
const GRANT =
  'give the user in OPENSEARCH_URL the role of "Access" in docker/stores.md, for this INDEX_PREFIX'

/** The error for an index that OpenSearch does not know, with its reason. */
export function missingIndex(reason: unknown): IndexMissing {
  return new IndexMissing(
    `OpenSearch has no such index: run "index init", which creates it or reports its loss: ${reason}`,
  )
}

/** The error for an index that an operator closed. */
export function closedIndex(index: unknown): Unavailable {
  return new Unavailable(`the index ${index} is closed: open it with POST ${index}/_open`)
}

/** The error for a document that lacks what its writer stored. */
export function damagedDocument(index: string, id: string): Unavailable {
  return new Unavailable(
    `the document ${id} of the index ${index} is damaged: restore it from a snapshot or delete it`,
  )
}

/** Whether OpenSearch rejected a request with this status. */
export function isRejectedWith(error: unknown, status: number): error is RequestRejectedError {
  return error instanceof RequestRejectedError && error.status === status
}

/** Whether OpenSearch rejected the creation of an index because the index exists. */
export function isIndexExistsError(error: unknown): error is RequestRejectedError {
  return error instanceof RequestRejectedError && error.type === INDEX_EXISTS
}

/**
 * Checks one part of a request that OpenSearch accepted, such as an item of a bulk.
 * @throws RequestRejectedError when the user lacks the permission for this part
 */
export function assertPermitted(error: { type?: string; reason?: string } | undefined): void {
  if (error?.type !== SECURITY) return
  throw new RequestRejectedError(FORBIDDEN, SECURITY, `${error.reason}; ${GRANT}`)
}

/** Maps errors of the client, which carry the request with personal data and credentials. */
export function toStoreError(error: unknown): Error {
  if (!(error instanceof errors.OpenSearchClientError)) return error as Error
  // The message of this error quotes the response.
  if (error instanceof errors.DeserializationError) return new Unavailable(NOT_JSON)
  if (!(error instanceof errors.ResponseError)) {
    const reason = `${error.name}: ${error.message.trim()}`
    const hint = /certificate/i.test(reason) ? CHECK_AUTHORITY : ''
    return new Unavailable(`no response from OPENSEARCH_URL: ${reason}${hint}`)
  }
  const { statusCode } = error
  const { type = 'no type', reason = 'no reason', index } = error.body?.['error'] ?? {}
  if (type === INDEX_CLOSED) return closedIndex(index)
  const isTransient =
    statusCode >= 500 || statusCode === TOO_MANY_REQUESTS || type === INDEX_BLOCKED
  if (isTransient) return new Unavailable(`OpenSearch responded ${statusCode} ${type}: ${reason}`)
  if (type === INDEX_NOT_FOUND) return missingIndex(reason)
  if (statusCode === UNAUTHORIZED) {
    return new RequestRejectedError(statusCode, type, reason, WRONG_CREDENTIALS)
  }
  if (statusCode === FORBIDDEN) {
    return new RequestRejectedError(statusCode, type, `${reason}; ${GRANT}`)
  }
  return new RequestRejectedError(statusCode, type, reason)
}
