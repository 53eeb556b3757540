import { Connection } from '@opensearch-project/opensearch'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { HOUR_MS } from '../../../../../../src/lib/durations.ts'
import { NodePool } from '../../../../../../src/stores/opensearch/client/connection/node-pool.ts'

const START_MS = Date.parse('2026-03-01T12:00:00Z')
const PING_INTERVAL_MS = 10_000

let nowMs: number
/** The responses that the pings of each node wait for, by host. */
let pings: { host: string; answer(isUp: boolean): void }[]
beforeEach(() => {
  nowMs = START_MS
  pings = []
  vi.spyOn(Date, 'now').mockImplementation(() => nowMs)
})

class RecordingConnection extends Connection {
  override request(...[, callback]: Parameters<Connection['request']>) {
    const answer = (isUp: boolean) =>
      isUp
        ? callback(null, { statusCode: 200 } as never)
        : callback(new Error('refused') as never, null as never)
    pings.push({ host: this.url.hostname, answer })
    return undefined as never
  }
}

function openPool(...hosts: string[]) {
  const pool = new NodePool({ Connection: RecordingConnection } as never)
  const nodes = hosts.map((host) => pool.addConnection(`http://${host}:9200`) as Connection)
  /** What the client does before every request. */
  const request = () => pool.getConnection({ now: Date.now() } as never)
  const pinged = () => pings.map(({ host }) => host)
  return { pool, nodes, request, pinged }
}

describe('a failed node', () => {
  it('is pinged every 10 seconds, once at a time, until it responds', () => {
    const { pool, nodes, request, pinged } = openPool('one', 'two')
    const [one] = nodes as [Connection]
    for (let failures = 0; failures < 20; failures += 1) pool.markDead(one)
    nowMs += PING_INTERVAL_MS - 1
    request()
    expect(pinged()).toEqual([])
    nowMs += 1
    request()
    request()
    expect(pinged()).toEqual(['one'])
    pings[0]?.answer(false)
    nowMs += PING_INTERVAL_MS
    request()
    expect(pinged()).toEqual(['one', 'one'])
    pings[1]?.answer(true)
    expect(one.status).toBe(Connection.statuses.ALIVE)
  })

  it('is pinged within 10 seconds after the clock is set back', () => {
    const { pool, nodes, request, pinged } = openPool('one', 'two', 'three')
    const [one, two] = nodes as [Connection, Connection]
    pool.markDead(one)
    nowMs -= HOUR_MS
    request()
    pool.markDead(two)
    nowMs += PING_INTERVAL_MS
    request()
    pings[0]?.answer(false)
    request()
    expect(new Set(pinged())).toEqual(new Set(['one', 'two']))
  })
})
