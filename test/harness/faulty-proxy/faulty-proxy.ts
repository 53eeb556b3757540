import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { poll } from '../processes/poll.ts'
import { splitChunk } from './split-chunk.ts'

/** Which answers end in the middle. */
export interface TruncatedResponses {
  /** Bytes of the answer that still arrive. */
  afterBytes: number
  /** One in so many answers; those that are shorter arrive whole. */
  everyNth: number
}

/** A TCP proxy on the loopback address, with the faults of a network as switches. */
export interface FaultyProxy {
  readonly port: number
  /** How late everything arrives, either way. */
  delayMs: number
  /** Swallows what is sent, either way. A connection that has lost something never recovers. */
  stall: boolean
  /** Sends everything in the smallest of pieces, either way. */
  slice: boolean
  /** Resets connections in the middle of an answer, where each request has one before the next is sent. */
  truncateResponses: TruncatedResponses | undefined
  /** Holds everything back, and lets it go on as if nothing had been. */
  freeze(): void
  unfreeze(): void
  /** Resets new connections. */
  refuse: boolean
  /** Resets the connections there are. */
  resetConnections(): void
  /** Resets the connections there are and listens no more, so that new ones are refused. */
  stopListening(): Promise<void>
  /** Listens again, on the same port. */
  listenAgain(): Promise<void>
  /** Connections of clients, and how many of those have lost something. */
  connections(): { open: number; broken: number }
  close(): Promise<void>
}

/** Between what is sent of an answer and the reset: one that comes at once may overtake it. */
const RESET_DELAY_MS = 5
/** The port is anybody's while nothing listens on it. */
const LISTEN_AGAIN = { timeoutMs: 20_000, intervalMs: 50, shouldAbort: () => false }

interface Connection {
  client: Socket
  target: Socket
  hasLost: boolean
  /** Bytes that may still pass of the present answer. */
  room: number
}

/** Forwards connections to a port of the loopback address, faultlessly at first. */
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
    // A delay that was shortened meanwhile must not let a later chunk overtake an earlier one.
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
    from.on('error', () => {}) // Its close follows.
    from.on('close', () => {
      setTimeout(() => to.end(), proxy.delayMs)
    })
  }

  /** What still passes of a chunk of an answer; after the last of it comes the reset. */
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
      await poll(listens, async () => `port ${port} was taken by another`, LISTEN_AGAIN)
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
