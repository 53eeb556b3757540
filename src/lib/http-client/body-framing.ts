import type { BodySink } from './body-sink.ts'

/** Finds the end of a body and passes its bytes to a sink. */
export interface BodyReader<Body> {
  /** Whether the body has ended. @throws Error for invalid bytes, or bytes after the end */
  read(bytes: Buffer): boolean
  /** Returns the complete body. */
  end(): Body
}

/** Reads a body of this many bytes. */
export function readFixed<Body>(length: number, sink: BodySink<Body>): BodyReader<Body> {
  let left = length
  return {
    read(bytes) {
      left -= bytes.length
      if (left < 0) throw tooLong()
      sink.write(bytes)
      return left === 0
    },
    end: sink.end,
  }
}

const LINE_BREAK = '\r\n'
const MAX_LINE_LENGTH = 8 * 1024
const CHUNK_SIZE = /^[0-9a-f]{1,8}(?=$|[ \t;])/i

/** Reads a body in the chunked transfer coding; its extensions and trailers are dropped. */
export function readChunked<Body>(sink: BodySink<Body>): BodyReader<Body> {
  let line = ''
  /** Bytes of the current chunk that have not arrived. */
  let left = 0
  let state: 'size' | 'data' | 'data end' | 'trailer' | 'done' = 'size'

  function endLine(text: string): void {
    if (state === 'trailer') {
      if (text === '') state = 'done'
      return
    }
    if (state === 'data end') {
      if (text !== '') throw new Error('a chunk of the response is longer than its size')
      state = 'size'
      return
    }
    const [size] = CHUNK_SIZE.exec(text) ?? []
    if (size === undefined) throw new Error('a chunk of the response has no size')
    left = Number.parseInt(size, 16)
    state = left === 0 ? 'trailer' : 'data'
  }

  /** Reads up to the end of the line, and returns the index after it. */
  function readLine(bytes: Buffer, at: number): number {
    const end = bytes.indexOf('\n', at)
    const next = end < 0 ? bytes.length : end + 1
    line += bytes.toString('latin1', at, next)
    if (line.length > MAX_LINE_LENGTH) throw new Error('a line of the response is too long')
    if (end < 0) return next
    if (!line.endsWith(LINE_BREAK)) throw new Error('a line of the response has no CRLF')
    const text = line.slice(0, -LINE_BREAK.length)
    line = ''
    endLine(text)
    return next
  }

  function readData(bytes: Buffer, at: number): number {
    const data = bytes.subarray(at, at + left)
    sink.write(data)
    left -= data.length
    if (left === 0) state = 'data end'
    return at + data.length
  }

  return {
    read(bytes) {
      let at = 0
      while (at < bytes.length) {
        if (state === 'done') throw tooLong()
        at = state === 'data' ? readData(bytes, at) : readLine(bytes, at)
      }
      return state === 'done'
    },
    end: sink.end,
  }
}

function tooLong(): Error {
  return new Error('the response has further bytes after its end')
}
