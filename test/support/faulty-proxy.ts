import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy on the loopback address, with the faults of a network as switches. */
export interface FaultyProxy {
  readonly port: number
  /** How late everything arrives, either way. */
  delayMs: number
  /** Swallows what is sent, either way. A connection that has lost something never recovers. */
  stall: boolean
  /** Holds everything back, and lets it go on as if nothing had been. */
  freeze(): void
  thaw(): void
  /** Resets new connections. */
  refuse: boolean
  /** Resets the connections there are. */
  cut(): void
  close(): Promise<void>
}

/** Forwards connections to a port of the loopback address, faultlessly at first. */
export async function startFaultyProxy(targetPort: number): Promise<FaultyProxy> {
  const open = new Set<Socket>()
  let isFrozen = false
  const server = createServer({ noDelay: true }, (client) => {
    if (proxy.refuse) {
      client.resetAndDestroy()
      return
    }
    const target = connect({ port: targetPort, host: '127.0.0.1', noDelay: true })
    carry(client, target)
    carry(target, client)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')

  function carry(from: Socket, to: Socket) {
    let isBroken = false
    open.add(from)
    if (isFrozen) from.pause()
    // A delay that was shortened meanwhile must not let a later chunk overtake an earlier one.
    const waiting: Buffer[] = []
    from.on('data', (chunk) => {
      isBroken ||= proxy.stall
      if (isBroken) return
      waiting.push(chunk)
      if (proxy.delayMs > 0) setTimeout(arrive, proxy.delayMs)
      else arrive()
    })
    function arrive() {
      const chunk = waiting.shift()
      if (chunk && !to.destroyed) to.write(chunk)
    }
    from.on('error', () => {}) // Its close follows.
    from.on('close', () => {
      open.delete(from)
      setTimeout(() => to.end(), proxy.delayMs)
    })
  }

  const proxy: FaultyProxy = {
    port: (server.address() as AddressInfo).port,
    delayMs: 0,
    stall: false,
    refuse: false,
    freeze() {
      isFrozen = true
      for (const socket of open) socket.pause()
    },
    thaw() {
      isFrozen = false
      for (const socket of open) socket.resume()
    },
    cut() {
      for (const socket of open) socket.resetAndDestroy()
    },
    async close() {
      proxy.cut()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}
