import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Arrival, GroupCounts } from './arrivals.ts'
import type { GroupBehaviour } from './receiver-process.ts'

// The receiver of all endpoints of the bench, in a process of its own, so that its CPU time is
// separate. An endpoint is a path `/group/name`; the paths below `/_/` control it.

interface Group extends GroupBehaviour {
  arrivals: Arrival[]
  /** The ids of the arrivals. */
  ids: Set<string>
  counts: GroupCounts
  /** By path. */
  inFlight: Map<string, number>
}

const SAMPLE_BODIES = 200
const groups = new Map<string, Group>()
let bodies: string[] = []

const noCounts = (): GroupCounts => ({ arrivals: 0, maxInFlight: 0, firstAtMs: 0, lastAtMs: 0 })

function groupOf(name: string): Group {
  const group = groups.get(name) ?? {
    mode: 'accept' as const,
    arrivals: [],
    ids: new Set<string>(),
    counts: noCounts(),
    inFlight: new Map(),
  }
  groups.set(name, group)
  return group
}

/** Counts a request from its headers to its response. */
function receive(request: IncomingMessage, response: ServerResponse): void {
  const path = request.url ?? '/'
  const group = groupOf(path.slice(1, path.indexOf('/', 1)))
  const inFlight = (group.inFlight.get(path) ?? 0) + 1
  group.inFlight.set(path, inFlight)
  group.counts.maxInFlight = Math.max(group.counts.maxInFlight, inFlight)
  response.once('close', () => group.inFlight.set(path, (group.inFlight.get(path) ?? 1) - 1))
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => accept(request, response, group, Buffer.concat(chunks)))
}

function accept(
  { headers }: IncomingMessage,
  response: ServerResponse,
  group: Group,
  body: Buffer,
): void {
  if (group.mode === 'hang') return
  if (group.mode === 'refuse') {
    response.writeHead(503, { 'content-length': 0 }).end()
    return
  }
  const { counts, arrivals, delayMs = 0 } = group
  const atMs = performance.timeOrigin + performance.now()
  const id = `${headers['webhook-id']}`
  counts.arrivals = group.ids.add(id).size
  counts.firstAtMs ||= atMs
  counts.lastAtMs = atMs
  arrivals.push({ id, ...readEnvelope(body), atMs })
  if (bodies.length < SAMPLE_BODIES) bodies.push(body.toString())
  const answer = () => response.writeHead(200, { 'content-length': 2 }).end('ok')
  if (delayMs > 0) setTimeout(answer, delayMs)
  else answer()
}

/** The members are at the beginning, and parsing the order would cost more than all the rest. */
const ENVELOPE = /"order_id":"([^"]*)","sequence":(\d+)/
const ENVELOPE_BYTES = 400

function readEnvelope(body: Buffer) {
  const [, orderId = '', sequence = '0'] =
    ENVELOPE.exec(body.toString('latin1', 0, ENVELOPE_BYTES)) ?? []
  return { orderId, sequence: Number(sequence) }
}

async function control(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, , action = '', name = ''] = (request.url ?? '').split('/')
  const group = groupOf(name)
  if (action === 'behave') {
    const text = Buffer.concat(await request.toArray()).toString()
    Object.assign(group, JSON.parse(text) as GroupBehaviour)
    response.end()
  } else if (action === 'reset') {
    Object.assign(group, { arrivals: [], ids: new Set(), counts: noCounts() })
    bodies = []
    response.end()
  } else if (action === 'counts') response.end(JSON.stringify(group.counts))
  else if (action === 'bodies') response.end(JSON.stringify(bodies))
  else if (action === 'arrivals') response.end(JSON.stringify(group.arrivals))
  else response.writeHead(404).end()
}

const server = createServer((request, response) => {
  if (!request.url?.startsWith('/_/')) receive(request, response)
  else control(request, response).catch((error) => response.destroy(error))
})
// A sender that was idle must not meet a connection that closes.
server.keepAliveTimeout = 600_000
await once(server.listen(0, '127.0.0.1'), 'listening')
console.log(`Server listening at http://127.0.0.1:${(server.address() as AddressInfo).port}`)
await import('../../baselines/operations.ts')
