import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { finished } from 'node:stream/promises'

export interface RawAnswer {
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

/** Sends the bytes on a connection of their own and reads until the server closes or answers in full. */
export async function sendRaw(port: number, bytes: string | Buffer): Promise<RawAnswer[]> {
  const socket = await openSocket(port)
  socket.write(bytes)
  return readAnswers(socket)
}

/** All answers that come on a connection until the server closes it or is silent for a while. */
export async function readAnswers(socket: Socket, silenceMs = 400): Promise<RawAnswer[]> {
  const chunks: Buffer[] = []
  socket.setTimeout(silenceMs, () => socket.destroy())
  socket.on('data', (chunk) => chunks.push(chunk))
  await finished(socket).catch(() => {}) // A reset ends what can be read, as a close does.
  return parseAnswers(Buffer.concat(chunks))
}

function parseAnswers(bytes: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = []
  for (let start = 0; start < bytes.length; ) {
    const headEnd = bytes.indexOf('\r\n\r\n', start)
    if (headEnd < 0) throw new Error(`half an answer: ${bytes.toString('utf8', start)}`)
    const [statusLine = '', ...lines] = bytes.toString('utf8', start, headEnd).split('\r\n')
    const headers = Object.fromEntries(lines.map(headerOf))
    const bodyStart = headEnd + 4
    start = bodyStart + Number(headers['content-length'] ?? 0)
    const status = Number(statusLine.split(' ')[1])
    answers.push({ status, headers, body: bytes.toString('utf8', bodyStart, start) })
  }
  return answers
}

function headerOf(line: string): [name: string, value: string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}
