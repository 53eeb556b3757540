import { type BodyReader, readChunked, readFixed } from './body-framing.ts'
import type { CreateSink } from './body-sink.ts'

/** A complete response. */
export interface HttpResponse<Body> {
  status: number
  /** The status line and the headers; see {@link parseHeaders}. */
  head: string
  body: Body
  /** Whether the server closes the connection after it. */
  isLast: boolean
}

interface Head {
  text: string
  status: number
  isLast: boolean
  /** Of the body, in bytes; `null` for a body in chunks. */
  length: number | null
}

const HEAD_END = '\r\n\r\n'
const MAX_HEAD_BYTES = 64 * 1024
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: |\r|$)/
const LENGTH = /\r\ncontent-length:[ \t]*([^\r]*)/gi
const CODING = /\r\ntransfer-encoding:[ \t]*([^\r]*)/gi
const CLOSE = /\r\nconnection:[ \t]*close/i
const KEEP_ALIVE = /\r\nconnection:[ \t]*keep-alive/i

/**
 * Reads the responses of a connection to requests other than HEAD. The returned function takes the
 * next bytes, and returns a response when its last byte has arrived.
 * @throws Error when the bytes are no HTTP response, or leave its end in doubt
 */
export function createResponseReader<Body>(
  createSink: CreateSink<Body>,
): (bytes: Buffer) => HttpResponse<Body> | undefined {
  let partialHead: Buffer | undefined
  let current: { head: Head; body: BodyReader<Body> } | undefined

  /** Returns the bytes after the head; `undefined` while the head is incomplete. */
  function readHead(bytes: Buffer): Buffer | undefined {
    const known = partialHead === undefined ? bytes : Buffer.concat([partialHead, bytes])
    const end = known.indexOf(HEAD_END)
    if (end > MAX_HEAD_BYTES || (end < 0 && known.length > MAX_HEAD_BYTES)) {
      throw new Error('the head of the response is too long')
    }
    partialHead = end < 0 ? Buffer.from(known) : undefined // The next read overwrites the bytes.
    if (end < 0) return undefined
    const rest = known.subarray(end + HEAD_END.length)
    const head = parseHead(known.toString('latin1', 0, end))
    if (isInterim(head.status)) return readHead(rest)
    const sink = createSink(head.length)
    const body = head.length === null ? readChunked(sink) : readFixed(head.length, sink)
    current = { head, body }
    return rest
  }

  return (bytes) => {
    const rest = current === undefined ? readHead(bytes) : bytes
    if (rest === undefined || current === undefined || !current.body.read(rest)) return undefined
    const { head, body } = current
    current = undefined
    return { status: head.status, head: head.text, body: body.end(), isLast: head.isLast }
  }
}

/** The headers of a response by their lowercase names; the last one wins. */
export function parseHeaders(head: string): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const line of head.split('\r\n').slice(1)) {
    const colon = line.indexOf(':')
    if (colon > 0) headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim()
  }
  return headers
}

function parseHead(head: string): Head {
  const [, minor, digits] = STATUS_LINE.exec(head) ?? []
  if (digits === undefined) throw new Error('the response is not HTTP/1.1')
  const status = Number(digits)
  const isLast = minor === '0' ? !KEEP_ALIVE.test(head) : CLOSE.test(head)
  return { text: head, status, isLast, length: isBodiless(status) ? 0 : bodyLengthOf(head, status) }
}

/** Two readers of an ambiguous response could find different ends, so it is an error. */
function bodyLengthOf(head: string, status: number): number | null {
  const lengths = Array.from(head.matchAll(LENGTH), ([, value = '']) => value.trim())
  const codings = Array.from(head.matchAll(CODING), ([, value = '']) => value.trim())
  const [length, coding] = [lengths[0], codings[0]]
  if (lengths.length + codings.length > 1)
    throw new Error(`the response (${status}) has two lengths`)
  if (coding?.toLowerCase() === 'chunked') return null
  if (length !== undefined && /^\d{1,15}$/.test(length)) return Number(length)
  throw new Error(`the response (${status}) has neither a content-length nor chunks`)
}

function isInterim(status: number): boolean {
  return status < 200
}

function isBodiless(status: number): boolean {
  return isInterim(status) || status === 204 || status === 304
}
