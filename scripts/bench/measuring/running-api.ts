import { startService } from './running-service.ts'

/** The service in a process of its own. */
export interface RunningApi {
  readonly origin: string
  /** Its CPU time since its start, in microseconds. */
  cpuMicros(): Promise<number>
  /** The text of `/metrics`. */
  metrics(): Promise<string>
  stop(): Promise<void>
}

/**
 * Starts `serve` with nothing but these settings, and waits until it listens. It logs as it does by
 * default, a line a request into a file: that is what whoever runs it pays for.
 */
export async function startApi(settings: Readonly<Record<string, string>>): Promise<RunningApi> {
  const awaited = [/Server listening at (http:[^"]+)/]
  const { said, ...api } = await startService({ args: ['serve'], settings, awaited })
  return { ...api, origin: said[0] ?? '' }
}
