import { once } from 'node:events'
import { createServer } from 'node:net'

/** Whether nothing listens on these ports of the loopback address. */
export async function areFree(ports: readonly number[]): Promise<boolean> {
  for (const port of ports) {
    if ((await tryPort(port)) === undefined) return false
  }
  return true
}

/** A free port of the loopback address for which `isFit` holds. */
export async function findFreePort(
  isFit: (port: number) => boolean | Promise<boolean>,
): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = await tryPort(0)
    if (port !== undefined && (await isFit(port))) return port
  }
  throw new Error('no free port was found')
}

/** Listens briefly, on any port for 0; returns the port, or `undefined` when it is in use. */
async function tryPort(port: number): Promise<number | undefined> {
  const server = createServer()
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
  } catch {
    return undefined
  }
  const address = server.address()
  await once(server.close(), 'close')
  return typeof address === 'object' ? address?.port : undefined
}
