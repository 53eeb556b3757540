import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { poll } from '../processes/poll.ts'
import { splitChunk } from './split-chunk.ts'

/** Selects the responses that are truncated. */
export interface TruncatedResponses {
  /** Number of response bytes that arrive. */
  afterBytes: number
  /** One in this many responses; shorter responses arrive whole. */
  everyNth: number
}

/** A TCP proxy on the loopback address with switchable network faults. */
export interface FaultyProxy {
  readonly port: number
  /** Delay in both directions. */
  delayMs: number
  /** Drops data in both directions. A connection that lost data never recovers. */
  stall: boolean
  /** Splits data into the smallest pieces in both directions. */
  slice: boolean
  /**
   * Resets connections in the middle of a response, where each request has one before the next is
   * sent.
   */
  truncateResponses: TruncatedResponses | undefined
  /** Pauses all data and resumes it without loss. */
  freeze(): void
  unfreeze(): void
  /** Resets new connections. */
  refuse: boolean
  /** Resets the open connections. */
  resetConnections(): void
  /** Resets the open connections and stops listening, so that the system rejects new ones. */
  stopListening(): Promise<void>
  /** Listens again, on the same port. */
  listenAgain(): Promise<void>
  /** The number of client connections, and of those that lost data. */
  connections(): { open: number; broken: number }
  close(): Promise<void>
}

/** Delay before a reset, which could otherwise overtake the data. */
const RESET_DELAY_MS = 5
/** Another process may bind the port while the proxy does not listen. */
const LISTEN_AGAIN = { timeoutMs: 20_000, intervalMs: 50, shouldAbort: () => false }

interface Connection {
  client: Socket
  target: Socket
  hasLost: boolean
  /** Remaining bytes of the current response. */
  room: number
}

/** Forwards connections to a loopback port, initially without faults. */
export async function startFaultyProxy(targetPort: number): Promise<FaultyProxy> {
  const open = new Set<Connection>()
  let isFrozen = false
  let asked = 0
  const server = createServer({ noDelay: true }, (client) => {
    if (proxy.refuse) {
      client.resetAndDestroy()
      return
    }
    const target = connect({ port: targetPort, host: '127.0.0.1', noDelay: true })
    const connection = { client, target, hasLost: false, room: Infinity }
    open.add(connection)
    for (const end of [client, target]) {
      end.on('close', () => {
        if (client.closed && target.closed) open.delete(connection)
      })
    }
    client.on('data', () => {
      asked += 1
      const { truncateResponses } = proxy
      const isCut = truncateResponses !== undefined && asked % truncateResponses.everyNth === 0
      connection.room = isCut ? truncateResponses.afterBytes : Infinity
    })
    carry(connection, client, target, (chunk) => chunk)
    carry(connection, target, client, (chunk) => cutIn(connection, chunk))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo

  function carry(
    connection: Connection,
    from: Socket,
    to: Socket,
    pass: (chunk: Buffer) => Buffer,
  ) {
    if (isFrozen) from.pause()
    // After a shorter delay is set, chunks must still arrive in order.
    const waiting: Buffer[] = []
    from.on('data', (chunk) => {
      connection.hasLost ||= proxy.stall
      if (connection.hasLost) return
      const pieces = proxy.slice ? splitChunk(pass(chunk)) : [pass(chunk)]
      waiting.push(...pieces)
      if (proxy.delayMs > 0) setTimeout(arrive, proxy.delayMs, pieces.length)
      else arrive(pieces.length)
    })
    function arrive(count: number) {
      const chunk = waiting.shift()
      if (chunk && !to.destroyed) to.write(chunk)
      if (count > 1) setImmediate(arrive, count - 1)
    }
    from.on('error', () => {}) // The close event follows.
    from.on('close', () => {
      setTimeout(() => to.end(), proxy.delayMs)
    })
  }

  /** Returns the part of a chunk that passes; the reset follows the last part. */
  function cutIn(connection: Connection, chunk: Buffer): Buffer {
    if (chunk.length <= connection.room) {
      connection.room -= chunk.length
      return chunk
    }
    const passing = chunk.subarray(0, connection.room)
    connection.hasLost = true
    setTimeout(reset, RESET_DELAY_MS + proxy.delayMs, connection)
    return passing
  }

  function reset({ client, target }: Connection) {
    client.resetAndDestroy()
    target.resetAndDestroy()
  }

  const proxy: FaultyProxy = {
    port,
    delayMs: 0,
    stall: false,
    slice: false,
    truncateResponses: undefined,
    refuse: false,
    freeze() {
      isFrozen = true
      for (const { client, target } of open) for (const socket of [client, target]) socket.pause()
    },
    unfreeze() {
      isFrozen = false
      for (const { client, target } of open) for (const socket of [client, target]) socket.resume()
    },
    resetConnections() {
      for (const connection of open) reset(connection)
    },
    async stopListening() {
      const closed = once(server, 'close')
      server.close()
      proxy.resetConnections()
      await closed
    },
    async listenAgain() {
      const listens = async () => {
        try {
          await once(server.listen(port, '127.0.0.1'), 'listening')
          return true
        } catch {
          return false
        }
      }
      await poll(listens, async () => `port ${port} is used by another process`, LISTEN_AGAIN)
    },
    connections() {
      const held = [...open].filter(({ client }) => !client.destroyed)
      return { open: held.length, broken: held.filter(({ hasLost }) => hasLost).length }
    },
    async close() {
      if (server.listening) await proxy.stopListening()
    },
  }
  return proxy
}
