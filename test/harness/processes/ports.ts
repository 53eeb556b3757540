import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'

/** Whether nothing listens on these ports of the loopback address. */
export async function areFree(ports: readonly number[]): Promise<boolean> {
  await using listening = await listenOn(ports)
  return listening !== undefined
}

/** A free port of the loopback address for which `isFit` holds. */
export async function findFreePort(
  isFit: (port: number) => boolean | Promise<boolean>,
): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = await anyFreePort()
    if (await isFit(port)) return port
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

async function anyFreePort(): Promise<number> {
  await using server = await listen(0)
  return (server.address() as AddressInfo).port
}

async function listen(port: number): Promise<Server> {
  const server = createServer()
  await once(server.listen(port, '127.0.0.1'), 'listening')
  return server
}
