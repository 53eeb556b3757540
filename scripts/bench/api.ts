import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openScratch, type ScratchProcess } from '../services/scratch.ts'
import { until } from '../services/until.ts'
import { metricsMicros } from './cpu.ts'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const START_MS = 20_000

/** The service in a process of its own. */
export interface RunningApi {
  readonly origin: string
  /** Its CPU time since its start, in microseconds. */
  cpuMicros(): Promise<number>
  stop(): Promise<void>
}

/**
 * Starts `serve` with nothing but these settings, and waits until it listens. It logs as it does by
 * default, a line a request into a file: that is what whoever runs it pays for.
 */
export async function startApi(settings: Readonly<Record<string, string>>): Promise<RunningApi> {
  const scratch = await openScratch('bench')
  try {
    // In a file, since arguments can be seen by everybody on the machine.
    const file = join(scratch.path, 'settings.env')
    const all = { ...settings, PORT: '0', OPERATIONS_PORT: '0', DATA_DIR: scratch.path }
    const lines = Object.entries(all).map(([name, value]) => `${name}=${JSON.stringify(value)}\n`)
    await writeFile(file, lines.join(''), { mode: 0o600 })
    const args = ['-i', process.execPath, `--env-file=${file}`, MAIN, 'serve']
    const api = await scratch.start('api', 'env', args)
    const { origin, operations } = await addresses(api)
    return {
      origin,
      async cpuMicros() {
        const response = await fetch(new URL('/metrics', operations))
        return metricsMicros(await response.text())
      },
      stop: scratch.close,
    }
  } catch (error) {
    await scratch.close()
    throw error
  }
}

async function addresses(api: ScratchProcess): Promise<{ origin: string; operations: string }> {
  let origin: string | undefined
  let operations: string | undefined
  await until(
    async () => {
      const log = await api.logTail()
      origin = /Server listening at (http:[^"]+)/.exec(log)?.[1]
      operations = /operations at (http:[^"]+)/.exec(log)?.[1]
      return origin !== undefined && operations !== undefined
    },
    async () => `the service did not start:\n${await api.logTail()}`,
    { timeoutMs: START_MS, everyMs: 50, isHopeless: api.hasEnded },
  )
  return { origin: origin ?? '', operations: operations ?? '' }
}
