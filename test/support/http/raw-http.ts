import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { finished } from 'node:stream/promises'

export interface RawResponse {
  status: number
  headers: Record<string, string>
  body: string
}

/** Opens a connection, for bytes that no HTTP client would send. */
export async function openSocket(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' })
  await once(socket, 'connect')
  return socket
}

/**
 * Sends the bytes on a new connection; reads `count` responses, or all until the server closes it.
 */
export async function sendRaw(
  port: number,
  bytes: string | Buffer,
  count = Infinity,
): Promise<RawResponse[]> {
  const socket = await openSocket(port)
  socket.write(bytes)
  return readResponses(socket, count)
}

/** Reads the next `count` responses on a connection, or all until the server closes it. */
export async function readResponses(socket: Socket, count = Infinity): Promise<RawResponse[]> {
  let received: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk])
    if (parseAnswers(received).answers.length >= count) socket.destroy()
  })
  // A reset ends the readable data, as a close does.
  await finished(socket).catch(() => {})
  const { answers, rest } = parseAnswers(received)
  if (rest !== '') throw new Error(`half a response: ${rest}`)
  return answers
}

function parseAnswers(bytes: Buffer): { answers: RawResponse[]; rest: string } {
  const answers: RawResponse[] = []
  let start = 0
  for (;;) {
    const headEnd = bytes.indexOf('\r\n\r\n', start)
    const [statusLine = '', ...lines] = bytes.toString('utf8', start, headEnd).split('\r\n')
    const headers = Object.fromEntries(lines.map(headerOf))
    const bodyStart = headEnd + 4
    const end = bodyStart + Number(headers['content-length'] ?? 0)
    if (headEnd < 0 || end > bytes.length) return { answers, rest: bytes.toString('utf8', start) }
    const status = Number(statusLine.split(' ')[1])
    answers.push({ status, headers, body: bytes.toString('utf8', bodyStart, end) })
    start = end
  }
}

function headerOf(line: string): [name: string, value: string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}
