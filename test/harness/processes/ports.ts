import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/**
 * Linux gives out ports from 32,768 by itself. A service that is down keeps a port below them, as
 * does the bus of a Redis, 10,000 ports above its own. `fetch` and browsers reject port 10,080.
 */
const FIRST_PORT = 10_081
const PORTS = 12_000
/** At random, since other processes search too. */
let next = Math.floor(Math.random() * PORTS)

/** Whether nothing listens on these ports of the loopback address. */
export async function areFree(ports: readonly number[]): Promise<boolean> {
  await using listening = await listenOn(ports)
  return listening !== undefined
}

/**
 * A free port of the loopback address for which `isFit` holds. While nothing listens on it, no
 * other program gets it by chance, and no later search of this process finds it.
 */
export async function findFreePort(
  isFit: (port: number) => boolean | Promise<boolean>,
): Promise<number> {
  for (let attempt = 0; attempt < PORTS; attempt++) {
    const port = FIRST_PORT + (next++ % PORTS)
    if ((await areFree([port])) && (await isFit(port))) return port
  }
  throw new Error('no free port was found')
}

/**
 * Listens on these ports of the loopback address until the disposal; `undefined` when one of them
 * is in use.
 */
export async function listenOn(ports: readonly number[]): Promise<AsyncDisposable | undefined> {
  await using listening = new AsyncDisposableStack()
  for (const port of ports) {
    try {
      listening.use(await listen(port))
    } catch {
      return undefined
    }
  }
  return listening.move()
}

async function listen(port: number): Promise<Server> {
  const server = createServer()
  await once(server.listen(port, '127.0.0.1'), 'listening')
  return server
}
