/** The parts of a request. HEAD is no method here, since the end of its response differs. */
export interface PlainRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** With the query, percent-encoded. */
  path: string
  /** Without `host` and `content-length`. */
  headers: Readonly<Record<string, string>>
  body?: string | Buffer | undefined
}

/** A request as it is sent, in pieces. */
export type SerializedRequest = readonly (string | Buffer)[]

const METHODS = new Set(['GET', 'POST', 'PUT', 'DELETE'])
const TARGET = /^\/[\x21-\x7e]*$/
const FIELD = /^[\t\x20-\x7e]*$/
/** A longer body costs more to copy than to send on its own. */
const MAX_JOINED_LENGTH = 16 * 1024

/**
 * Serializes a request.
 * @throws Error for another method, and for a character that would end the request line or a header
 */
export function serializeRequest(
  { method, path, headers, body }: PlainRequest,
  host: string,
): SerializedRequest {
  if (!METHODS.has(method)) throw new Error(`a request has the unknown method ${method}`)
  if (!TARGET.test(path)) throw new Error('the path of a request is not percent-encoded')
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n`
  for (const [name, value] of Object.entries(headers)) {
    if (!FIELD.test(value))
      throw new Error(`the header ${name} of a request has control characters`)
    head += `${name}: ${value}\r\n`
  }
  if (body === undefined)
    return [method === 'GET' ? `${head}\r\n` : `${head}content-length: 0\r\n\r\n`]
  head += `content-length: ${Buffer.byteLength(body)}\r\n\r\n`
  return typeof body === 'string' && body.length <= MAX_JOINED_LENGTH ? [head + body] : [head, body]
}
