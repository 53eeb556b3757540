/** What the load generator keeps of a response. */
export interface Received {
  status: number
  /** Length of the body. */
  bytes: number
  /** Whether the server closes the connection after it. */
  isLast: boolean
}

/** Counts a body; `read` returns whether it has ended. */
interface BodyCounter {
  read(bytes: Buffer): boolean
  length(): number
}

const HEAD_END = '\r\n\r\n'
const EMPTY = Buffer.alloc(0)
/** Status codes without a body, whatever the headers. */
const BODILESS = [204, 304]

/**
 * Reads the responses of a connection, chunk by chunk. The returned function returns a response
 * when its last byte has arrived.
 * @throws Error for a body without a length or with further bytes after its end
 */
export function createResponseReader(): (chunk: Buffer) => Received | undefined {
  let head: Buffer = EMPTY
  let current: ReturnType<typeof parseHead> | undefined

  return (chunk) => {
    let rest = chunk
    if (current === undefined) {
      const bytes = head.length === 0 ? chunk : Buffer.concat([head, chunk])
      const end = bytes.indexOf(HEAD_END)
      if (end < 0) {
        head = Buffer.from(bytes) // A copy, since the next read overwrites the chunk.
        return undefined
      }
      current = parseHead(bytes.toString('latin1', 0, end))
      rest = bytes.subarray(end + HEAD_END.length)
      head = EMPTY
    }
    const { status, isLast, body } = current
    if (!body.read(rest)) return undefined
    current = undefined
    return { status, isLast, bytes: body.length() }
  }
}

function parseHead(head: string) {
  const status = Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length))
  const isLast = /\r\nconnection: *close/i.test(head)
  return { status, isLast, body: BODILESS.includes(status) ? countFixed(0) : bodyOf(head) }
}

function bodyOf(head: string): BodyCounter {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length !== undefined) return countFixed(Number(length))
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return countChunked()
  throw new Error('neither content-length nor chunks')
}

function countFixed(length: number): BodyCounter {
  let left = length
  return {
    read(bytes) {
      left -= bytes.length
      if (left < 0) throw new Error('further bytes after the response')
      return left === 0
    },
    length: () => length,
  }
}

function countChunked(): BodyCounter {
  let length = 0
  let line = ''
  /** Of the current chunk, with the line break after it. */
  let left = 0
  let isTrailer = false

  /** Returns whether the line is the last of the body. */
  function endLine(): boolean {
    const text = line.trim()
    line = ''
    if (isTrailer) return text === ''
    const size = Number.parseInt(text, 16)
    isTrailer = size === 0
    length += size
    left = isTrailer ? 0 : size + '\r\n'.length
    return false
  }

  return {
    read(bytes) {
      let at = 0
      while (at < bytes.length) {
        if (left > 0) {
          const taken = Math.min(left, bytes.length - at)
          left -= taken
          at += taken
          continue
        }
        const end = bytes.indexOf('\n', at)
        line += bytes.toString('latin1', at, end < 0 ? bytes.length : end)
        if (end < 0) return false
        at = end + 1
        if (!endLine()) continue
        if (at < bytes.length) throw new Error('further bytes after the response')
        return true
      }
      return false
    },
    length: () => length,
  }
}
