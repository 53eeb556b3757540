import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

const TYPES = { 4: 1, 6: 28 } as const
const HEADER_BYTES = 12
const NO_SUCH_NAME = 3
const SERVER_FAILURE = 2

/** Addresses of both families; a missing family has no record. */
export type DnsAnswer = readonly string[] | 'no such name' | 'failure' | 'silence'

/**
 * A name server on the loopback address. `answers`: by name, or by a name with ` AAAA` for IPv6
 * alone.
 */
export async function startDnsServer(answers: Readonly<Record<string, DnsAnswer>>) {
  const socket = createSocket('udp4')
  const queries: string[] = []
  socket.on('message', (query, { address, port }) => {
    const { name, type, end } = parseQuestion(query)
    queries.push(name)
    const own = type === TYPES[6] ? answers[`${name} AAAA`] : undefined
    const answer = own ?? answers[name] ?? 'no such name'
    if (answer === 'silence') return
    const records = typeof answer === 'string' ? [] : answer.filter((text) => typeOf(text) === type)
    const code = { 'no such name': NO_SUCH_NAME, failure: SERVER_FAILURE }[String(answer)] ?? 0
    const header = Buffer.alloc(HEADER_BYTES)
    query.copy(header, 0, 0, 2)
    header.writeUInt16BE(0x8180 | code, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(records.length, 6)
    const question = query.subarray(HEADER_BYTES, end)
    socket.send(Buffer.concat([header, question, ...records.map(encodeRecord)]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${socket.address().port}`,
    queries,
    close() {
      socket.close()
    },
  }
}

const typeOf = (address: string) => (isIP(address) === 4 ? TYPES[4] : TYPES[6])

function parseQuestion(query: Buffer) {
  const labels: string[] = []
  let offset = HEADER_BYTES
  for (let length = query.readUInt8(offset); length > 0; length = query.readUInt8(offset)) {
    labels.push(query.toString('latin1', offset + 1, offset + 1 + length))
    offset += 1 + length
  }
  return { name: labels.join('.'), type: query.readUInt16BE(offset + 1), end: offset + 5 }
}

function encodeRecord(address: string): Buffer {
  const data = Buffer.from(ipaddr.parse(address).toByteArray())
  const record = Buffer.alloc(12)
  record.writeUInt16BE(0xc000 | HEADER_BYTES, 0) // The name of the question.
  record.writeUInt16BE(typeOf(address), 2)
  record.writeUInt16BE(1, 4)
  record.writeUInt32BE(60, 6)
  record.writeUInt16BE(data.length, 10)
  return Buffer.concat([record, data])
}
