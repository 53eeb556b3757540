import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LoadSummary } from '../../../src/indexing/sources/load.ts'
import { poll } from '../../../test/harness/processes/poll.ts'
import type { Scratch } from '../../../test/harness/processes/scratch.ts'

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))
const LONGEST_MS = 3_600_000

/** What a load told, and what its process used. */
export interface LoadRun {
  summary: LoadSummary & { seconds: number }
  cpuMicros: number
  peakBytes: number
}

/** Runs `index load` on a file, in a process of its own, with nothing but these settings. */
export async function runLoad(
  scratch: Scratch,
  file: string,
  settings: Readonly<Record<string, string>>,
): Promise<LoadRun> {
  const usageFile = join(scratch.path, 'usage.json')
  // In a file, since arguments can be seen by everybody on the machine.
  const settingsFile = join(scratch.path, 'settings.env')
  const all = { ...settings, DATA_DIR: scratch.path, BENCH_USAGE_FILE: usageFile }
  const lines = Object.entries(all).map(([name, value]) => `${name}=${JSON.stringify(value)}\n`)
  await writeFile(settingsFile, lines.join(''), { mode: 0o600 })
  const load = await scratch.start('load', 'env', [
    ...['-i', process.execPath, `--env-file=${settingsFile}`],
    ...[`--import=${path('../measuring/usage.ts')}`, path('../../../src/main.ts')],
    ...['index', 'load', file, '--history', '--json'],
  ])
  await poll(
    async () => load.hasEnded(),
    async () => `the load did not end:\n${await load.logTail()}`,
    { timeoutMs: LONGEST_MS, intervalMs: 50, shouldAbort: () => false },
  )
  const log = await load.logTail()
  const usage: NodeJS.ResourceUsage = JSON.parse(await readFile(usageFile, 'utf8'))
  return {
    summary: summaryIn(log),
    cpuMicros: usage.userCPUTime + usage.systemCPUTime,
    peakBytes: 1024 * usage.maxRSS,
  }
}

/** Everything it says goes into one log; the summary comes last. */
function summaryIn(log: string): LoadRun['summary'] {
  const at = log.lastIndexOf('{')
  if (at < 0) throw new Error(`the load failed:\n${log}`)
  return JSON.parse(log.slice(at))
}
