import { fileURLToPath } from 'node:url'
import { residentBytes } from './cpu.ts'
import type { Server } from './race.ts'
import { type ServiceOptions, startService } from './running-service.ts'

/** The service, or a peer of it, in a process of its own. */
export interface RunningApi extends Server {
  readonly pid: number
  readonly origin: string
  /** The text of `/metrics`. */
  metrics(): Promise<string>
  stop(): Promise<void>
}

type Settings = Readonly<Record<string, string>>

/**
 * Starts `serve` with nothing but these settings, and waits until it listens. It logs as it does by
 * default, a line a request into a file: that is what whoever runs it pays for.
 */
export async function startApi(settings: Settings): Promise<RunningApi> {
  return await startServer({ args: ['serve'], settings })
}

/** The file of a peer: the same job, done in another way. */
export function peerFile(name: string): string {
  return fileURLToPath(new URL(`../peers/${name}`, import.meta.url))
}

/** Starts a peer of the service, which says as the service does where it listens. */
export async function startPeer(
  name: string,
  { args = [], settings = {} }: { args?: readonly string[]; settings?: Settings },
): Promise<RunningApi> {
  return await startServer({ program: peerFile(name), args, settings })
}

async function startServer(options: Omit<ServiceOptions, 'awaited'>): Promise<RunningApi> {
  const awaited = [/Server listening at (http:[^"\s]+)/]
  const { said, metrics, ...api } = await startService({ ...options, awaited })
  return {
    ...api,
    metrics,
    origin: said[0] ?? '',
    residentBytes: async () => residentBytes(await metrics()),
  }
}
